"""The shortest proof that Accelerate's port is one: the CPU's losses stay, and an NPU is used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.ports.accelerate.runs import ROOT, SHORT, TRAIN, Tree, copied
from tests.ports.command import porter


@pytest.fixture(scope="module")
def port_that_depends(accelerate: Path, tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """The port that imports porter_runtime, and has no shim of its own."""
    tree = copied(accelerate, tmp_path_factory.mktemp("depends") / "tree")
    done = porter("rewrite", str(tree.folder))
    assert done.returncode == 0, done.stdout + done.stderr
    return tree


def directly(tree: Tree) -> list[float]:
    return tree.run(TRAIN, "--epochs=2", "--result={result}", PYTHONPATH=search_path(tree)).losses


def by_launch(tree: Tree) -> list[float]:
    command = ("accelerate", "launch", "--cpu", TRAIN, "--epochs=2", "--result={result}")
    return tree.run(*command, PYTHONPATH=search_path(tree)).losses


def search_path(tree: Tree) -> str:
    return f"{tree.folder}:{ROOT / 'runtime'}"


@pytest.mark.parametrize("train", [directly, by_launch])
def test_on_the_cpu_losses_stay_to_the_last_digit(
    train: Callable[[Tree], list[float]], original: Tree, port: Tree, port_that_depends: Tree
) -> None:
    reference = train(original)
    assert len(reference) == 60
    assert sum(reference[-6:]) < 0.8 * sum(reference[:6]), "the original does not learn"
    assert train(port) == reference
    assert train(port_that_depends) == reference


def test_an_npu_is_used(original: Tree, port: Tree) -> None:
    npu, cpu = (port.train(*SHORT, backend=backend) for backend in ("npu-emulated", "cpu"))
    assert npu.result["parameters"] == npu.result["moments"] == ["npu:0"]
    assert npu.result["changed"] == 1.0
    assert npu.trapped == []
    assert max(abs(a - b) for a, b in zip(npu.losses, cpu.losses, strict=True)) <= 1e-5
    assert original.train(*SHORT, backend="npu-emulated").result["parameters"] == ["cpu"]
