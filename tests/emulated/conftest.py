"""Tests of the emulated devices.

A process has an emulated device from ``import torch`` on or never, so what runs on one lies in
``inside/`` and is collected only by the child processes that ``test_inside`` starts.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from porter.emulated import emulated_env

collect_ignore_glob = [] if "EMULATED_LIBRARY" in os.environ else ["inside/*"]

ROOT = Path(__file__).resolve().parents[2]

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def run_emulated() -> Run:
    """Runs Python with arguments in a child with emulated devices; extra variables by keyword."""

    def run(
        *arguments: str,
        backend: str = "npu",
        devices: int = 1,
        strict: bool = False,
        **variables: str,
    ) -> subprocess.CompletedProcess[str]:
        env = emulated_env(backend, devices=devices, strict=strict)
        env["PYTHONPATH"] += os.pathsep + str(ROOT)  # for tests.emulated.device
        return subprocess.run(
            [sys.executable, *arguments],
            env={**env, "OMP_NUM_THREADS": "1", **variables},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run
