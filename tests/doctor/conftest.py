"""Fixtures: programs and folders that stand for a machine's driver and CANN."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

DATA = Path(__file__).with_name("data")
"""What `npu-smi info` prints, in the layouts that public reports show; the figures are made up."""

Program = Callable[..., Path]


def sample(name: str) -> str:
    """Return one of the outputs in DATA."""
    return (DATA / f"{name}.txt").read_text("utf-8")


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """Return a function that puts a shell script on the PATH, ahead of everything else."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def put(name: str, script: str) -> Path:
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    return put


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a shared library without content."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler: apt install gcc")
    path = tmp_path_factory.mktemp("library") / "lib.so"
    command = [compiler, "-shared", "-x", "c", "/dev/null", "-o", str(path)]
    subprocess.run(command, check=True)
    return path
