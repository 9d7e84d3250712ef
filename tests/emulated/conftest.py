"""Tests of the emulated NPU.

A process has the emulated NPU from ``import torch`` on or never, so what runs on it lies in
``inside/`` and is collected only by the child processes that ``test_inside`` starts.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from porter.emulated import emulated_env

collect_ignore_glob = [] if "EMULATED_NPU_LIBRARY" in os.environ else ["inside/*"]

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def run_emulated() -> Run:
    """Runs Python with arguments in a child with emulated NPUs; extra variables by keyword."""

    def run(
        *arguments: str, devices: int = 1, strict: bool = False, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        env = {**emulated_env(devices, strict), "OMP_NUM_THREADS": "1", **variables}
        return subprocess.run(
            [sys.executable, *arguments],
            env=env,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run
