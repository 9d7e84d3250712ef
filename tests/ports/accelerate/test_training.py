"""Accelerate 0.20.3, ported, trains on an (emulated) NPU as it does on the CPU, and on CUDA.

The original fails most of these; those that it passes too are named so.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ports.accelerate.runs import HERE, SHORT, STEPS, Run, Tree
from tests.ports.conftest import Figure

pytestmark = pytest.mark.slow

CONFIG = ("--config_file", str(HERE / "data" / "multi_gpu.yaml"))


def difference(one: Run, other: Run) -> float:
    """Returns the largest difference of a step's losses."""
    return max(abs(a - b) for a, b in zip(one.losses, other.losses, strict=True))


def assert_trained_on(run: Run, *devices: str) -> None:
    """Asserts where all ranks trained, and that the first one's parameters were there, changed."""
    result = run.result
    assert result["devices"] == list(devices)
    first = "cpu" if devices[0] == "cpu" else f"{devices[0].partition(':')[0]}:0"
    assert result["parameters"] == result["moments"] == [first]
    assert result["changed"] == 1.0
    assert run.trapped == []


def devices(backend: str, processes: int) -> list[str]:
    device = backend.removesuffix("-emulated")
    return [device] if processes == 1 else [f"{device}:{rank}" for rank in range(processes)]


@pytest.mark.parametrize(
    ("backend", "processes", "options"),
    [
        ("cpu", 1, None),
        ("npu-emulated", 1, None),
        ("npu-emulated", 2, None),
        ("npu-emulated", 2, CONFIG),
    ],
    ids=["cpu", "npu", "npu two processes", "npu config file"],
)
def test_it_learns(
    backend: str, processes: int, options: tuple[str, ...] | None, port: Tree, figure: Figure
) -> None:
    run = port.train(backend=backend, processes=processes, options=options)
    assert_trained_on(run, *devices(backend, processes))
    result = run.result
    assert result["kind"].endswith("MULTI_GPU" if processes > 1 else "NO")
    assert result["evaluated"] == 120
    accuracies, losses = result["accuracies"], result["losses"]
    assert accuracies[-1] > 0.75
    steps = len(losses) // len(accuracies)
    means = [sum(losses[at : at + steps]) / steps for at in range(0, len(losses), steps)]
    assert means[-1] < 0.6 * means[0]
    how = "config file" if options else "options"
    figure(
        f"accelerate, {backend}, {processes} process(es), {how}:"
        f" {run.seconds:.1f} s; loss by epoch {' '.join(f'{mean:.4f}' for mean in means)};"
        f" accuracy {' '.join(f'{accuracy:.4f}' for accuracy in accuracies)}"
    )


def test_the_original_trains_on_the_cpu_beside_an_npu(original: Tree) -> None:
    run = original.train(*SHORT, backend="npu-emulated")
    assert run.result["parameters"] == ["cpu"]
    assert "accelerate/state.py" in {line.split(":")[0] for line in run.trapped}


def test_cpu_losses_are_the_originals(original: Tree, port: Tree) -> None:
    assert port.train(*SHORT).losses == original.train(*SHORT).losses


def test_two_processes_without_an_accelerator_train_where_the_original_fails(
    original: Tree, port: Tree
) -> None:
    assert_trained_on(port.train(*SHORT, processes=2), "cpu", "cpu")
    failed = original.train(*SHORT, processes=2)
    assert failed.returncode != 0
    assert (
        "Torch not compiled with CUDA enabled" in failed.output or "nccl" in failed.output.lower()
    )


@pytest.mark.parametrize(
    ("options", "reference", "tolerance"),
    [
        ((), (), 1e-5),
        (("--gradient_accumulation_steps=3",), ("--gradient_accumulation_steps=3",), 1e-5),
        (("--mixed_precision=fp16",), (), 1e-3),
        (("--mixed_precision=bf16",), ("--mixed_precision=bf16",), 1e-2),
    ],
    ids=["fp32", "accumulation", "fp16", "bf16"],
)
@pytest.mark.parametrize("processes", [1, 2])
def test_npu_losses_follow_the_cpus(
    processes: int,
    options: tuple[str, ...],
    reference: tuple[str, ...],
    tolerance: float,
    port: Tree,
    figure: Figure,
) -> None:
    npu = port.train(*SHORT, *options, backend="npu-emulated", processes=processes)
    cpu = port.train(*SHORT, *reference, processes=processes)
    largest = difference(npu, cpu)
    how = " ".join(options) or "fp32"
    figure(f"accelerate, npu-emulated beside cpu, {processes} process(es), {how}: {largest:.1e}")
    assert len(npu.losses) == STEPS
    assert_trained_on(npu, *devices("npu-emulated", processes))
    assert largest <= tolerance
    if "--mixed_precision=fp16" in options:
        assert npu.result["scale"] > 1


def test_low_precision_is_another_computation(port: Tree) -> None:
    plain = port.train(*SHORT, backend="npu-emulated")
    for precision in ("fp16", "bf16"):
        low = port.train(*SHORT, f"--mixed_precision={precision}", backend="npu-emulated")
        assert low.losses != plain.losses


def test_two_processes_share_the_batches_of_one(port: Tree, figure: Figure) -> None:
    options = (*SHORT, "--split_batches", "--in_order")
    one = port.train(*options, backend="npu-emulated")
    two = port.train(*options, backend="npu-emulated", processes=2)
    figure(f"accelerate, npu-emulated, 1 beside 2 processes: {difference(one, two):.1e}")
    assert difference(one, two) <= 1e-5


@pytest.mark.parametrize("backend", ["cpu", "npu-emulated"])
def test_a_resumed_run_is_the_straight_one(backend: str, port: Tree, tmp_path: Path) -> None:
    options = ("--epochs=2", "--dropout=0.1")
    straight = port.train(*options, f"--save={tmp_path}", backend=backend)
    resumed = port.train(*options, f"--resume={tmp_path}", backend=backend)
    assert "Could not load random states" not in resumed.output
    assert_trained_on(resumed, *devices(backend, 1))
    assert 2 * len(resumed.losses) == len(straight.losses)
    assert resumed.losses == straight.losses[len(resumed.losses) :]
    assert resumed.result["accuracies"] == straight.result["accuracies"][1:]


def test_two_processes_save_and_resume(port: Tree, tmp_path: Path) -> None:
    options = ("--epochs=2", "--in_order")
    straight = port.train(*options, f"--save={tmp_path}", backend="npu-emulated", processes=2)
    resumed = port.train(*options, f"--resume={tmp_path}", backend="npu-emulated", processes=2)
    assert resumed.losses == straight.losses[len(resumed.losses) :]


def test_on_cuda_nothing_changes_though_dropout_draws(original: Tree, port: Tree) -> None:
    options = (*SHORT, "--mixed_precision=fp16", "--dropout=0.1")
    before = original.train(*options, backend="cuda-emulated")
    after = port.train(*options, backend="cuda-emulated")
    assert before.result["parameters"] == ["cuda:0"]
    assert after.result == before.result
