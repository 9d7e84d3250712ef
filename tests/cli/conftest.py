from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from porter.__main__ import main
from tests.cli.harness import Porter, Repository, Result

ROOT = Path(__file__).parents[2]


@pytest.fixture
def porter(capsysbinary: pytest.CaptureFixture[bytes]) -> Porter:
    """Return a function that runs a command line in this process."""

    def run(*arguments: str | Path) -> Result:
        capsysbinary.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = capsysbinary.readouterr()
        assert isinstance(ended.value.code, int)
        return Result(ended.value.code, out, err.decode("utf-8", "backslashreplace"))

    return run


@pytest.fixture
def python() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Return a function that runs a Python program which can import porter."""

    def run(
        program: str, *arguments: str | Path, cwd: Path, **environment: str
    ) -> subprocess.CompletedProcess[bytes]:
        paths = os.pathsep.join(str(ROOT / part) for part in (".", "rules", "runtime"))
        return subprocess.run(
            [sys.executable, "-c", program, *map(str, arguments)],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": paths, **environment},
            capture_output=True,
            check=False,
            start_new_session=True,  # so that a program may interrupt its own process group
            timeout=60,
        )

    return run


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Return an empty repository that is the working directory."""
    made = Repository(tmp_path / "repository")
    monkeypatch.chdir(made.path)
    return made


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder outside any repository that is the working directory."""
    made = tmp_path / "folder"
    made.mkdir()
    monkeypatch.chdir(made)
    return made
