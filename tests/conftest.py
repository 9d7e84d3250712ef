"""Fixtures for tests that need real projects."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

Project = Callable[[str], Path]


@pytest.fixture(scope="session")
def project() -> Project:
    """Return a function that brings the wheel of a real project from PyPI, unpacked.

    It takes a requirement ("accelerate==0.20.3") and returns a folder that is shared between
    runs: copy from it, don't write to it. Nothing of the project is ever run or imported here.
    """
    root = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "porter-tests"

    def bring(requirement: str) -> Path:
        folder = root / requirement.replace("==", "-")
        if folder.exists():
            return folder
        part = folder.with_name(f"{folder.name}.{os.getpid()}.part")
        part.mkdir(parents=True)
        options = ["--no-deps", "--only-binary=:all:", "--python-version=3.10", "--quiet"]
        command = [sys.executable, "-m", "pip", "download", *options, "-d", str(part), requirement]
        subprocess.run(command, check=True, capture_output=True)
        wheel = next(part.glob("*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(part)
        wheel.unlink()
        part.rename(folder)
        return folder

    return bring
