"""The port of a notebook is a valid notebook that trains, run by a real kernel, magics and all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import torch

from tests.fixtures.cases import CASES
from tests.fixtures.trainings import environment
from tests.notebooks.notebooks import port

(CASE,) = (case for case in CASES if case.name == "notebook")
NAME = "spirals.ipynb"


def execute(path: Path, backend: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, Path(__file__).parent / "execute.py", path],
        cwd=path.parent,
        env=environment(backend),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture
def ported(tmp_path: Path) -> Path:
    """Returns a file with the port of the fixture's original."""
    path = tmp_path / NAME
    path.write_bytes(port((CASE.folder / "original" / NAME).read_bytes()).output)
    return path


def test_the_port_is_valid(ported: Path) -> None:
    notebook = nbformat.read(ported, as_version=4)  # type: ignore[no-untyped-call]  # it has no types
    nbformat.validate(notebook)


@pytest.mark.parametrize("backend", ["cpu", "npu-emulated"])
def test_the_port_trains(ported: Path, backend: str) -> None:
    done = execute(ported, backend)
    assert done.returncode == 0, done.stderr
    lines = CASE.lines(done.stdout)
    losses = [loss for loss, _ in lines]
    assert {device for _, device in lines} == {backend.removesuffix("-emulated")}
    assert len(losses) == CASE.steps
    assert sum(losses[-10:]) < CASE.falls_to * sum(losses[:10])
    assert "Wall time: " in done.stdout  # %%time still has its cell
    before, after = (
        torch.load(ported.parent / f"spirals_{epoch}.pt", map_location="cpu")["model"]
        for epoch in (2, 4)
    )
    assert not [name for name in before if torch.equal(before[name], after[name])]


@pytest.mark.slow  # tests/fixtures runs the original too, without a kernel
def test_the_original_does_not_without_cuda(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_bytes((CASE.folder / "original" / NAME).read_bytes())
    done = execute(path, "cpu")
    assert done.returncode != 0
    assert "Torch not compiled with CUDA enabled" in done.stderr or "NVIDIA" in done.stderr
