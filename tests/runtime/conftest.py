from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import porter_runtime

RUNTIME = Path(porter_runtime.__file__).parents[1]


@pytest.fixture
def accel(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The shim on the CPU, whatever the machine has, with nothing looked up yet."""
    monkeypatch.setenv("PORTER_DEVICE", "cpu")
    porter_runtime._reset()  # type: ignore[attr-defined]
    yield porter_runtime
    porter_runtime._reset()  # type: ignore[attr-defined]


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Any]]:
    """A function that makes the shim choose again, with PORTER_DEVICE set to its argument."""

    def choose(wanted: str) -> Any:
        monkeypatch.setenv("PORTER_DEVICE", wanted)
        porter_runtime._reset()  # type: ignore[attr-defined]
        return porter_runtime

    yield choose
    porter_runtime._reset()  # type: ignore[attr-defined]


@pytest.fixture
def warned() -> Iterator[list[str]]:
    """The texts of the warnings of the test, as they come, each time that they come."""
    texts: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *args, **kwargs: texts.append(str(message))
        yield texts


@pytest.fixture
def run_python(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """A function that runs a script in a fresh interpreter that can import the shim."""

    def run(
        source: str, path: Path = RUNTIME, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        script = tmp_path / "script.py"
        script.write_text(source, encoding="utf-8")
        variables: dict[str, str] = {**os.environ, "PYTHONPATH": str(path), **environment}
        return subprocess.run(
            [sys.executable, str(script)],
            env=variables,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=240,
        )

    return run
