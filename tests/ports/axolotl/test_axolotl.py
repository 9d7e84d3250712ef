"""axolotl 0.5.2, ported, does on an (emulated) NPU what it does on the CPU.

The original fails each of these, and the test shows how. What it passes as well says "sanity" in
its name: on the NPU, since its transformers and its Accelerate know NPUs by themselves.
"""

from __future__ import annotations

import json
from collections import Counter

import pytest
import torch

from tests.ports.axolotl.runs import LAUNCHERS, Axolotl, Run
from tests.ports.command import porter
from tests.ports.conftest import Figure

pytestmark = pytest.mark.slow

RECORDS = 200
STEPS = 60
TENSORS = 28
"""Two tensors of LoRA for each of seven linear layers in two blocks."""
PROMPT = "Where is the apple?"
NO_CUDA = "Torch not compiled with CUDA enabled"
NO_ACCELERATOR = "Cannot access accelerator device when none is available"

each_backend = pytest.mark.parametrize("backend", ["cpu", "npu-emulated"])
each_backend_but_sanity_on_the_cpu = pytest.mark.parametrize(
    "backend", [pytest.param("cpu", id="sanity, cpu"), "npu-emulated"]
)
each_launcher = pytest.mark.parametrize("launcher", LAUNCHERS)


def changed(axolotl: Axolotl, run: Run) -> int:
    """Returns how many tensors of the adapter aren't any more what they were at the start."""
    from safetensors.torch import load_file  # comes with transformers

    start = load_file(axolotl.inputs / "start" / "adapter_model.safetensors")
    end = load_file(run.folder / "out" / f"checkpoint-{STEPS}" / "adapter_model.safetensors")
    assert start.keys() == end.keys()
    return sum(not torch.equal(start[name], end[name]) for name in start)


def assert_trained(axolotl: Axolotl, run: Run, *devices: str) -> None:
    """Asserts that a port trained to its end, with each rank on its device."""
    assert run.returncode == 0, run.output
    assert run.trapped == []
    assert run.devices == {rank: {device} for rank, device in enumerate(devices)}
    assert changed(axolotl, run) == TENSORS
    for rank in range(len(devices)):
        losses = run.losses(rank)
        assert len(losses) == STEPS
        assert sum(losses[-5:]) < 0.92 * sum(losses[:5])


def difference(run: Run, reference: Run) -> float:
    """Returns the largest difference of a step's losses, over all ranks."""
    ranks = reference.devices.keys()
    pairs = [
        pair
        for rank in ranks
        for pair in zip(run.losses(rank), reference.losses(rank), strict=True)
    ]
    return max(abs(ours - theirs) for ours, theirs in pairs)


def ends(run: Run) -> str:
    """Returns the first and the last loss, and the time, for the figures."""
    losses = run.losses()
    return f"loss {losses[0]:.4f} to {losses[-1]:.4f} in {len(losses)} steps; {run.seconds:.1f} s"


@each_backend
def test_sanity_it_preprocesses(
    backend: str, original: Axolotl, port: Axolotl, figure: Figure
) -> None:
    runs = [tree.run(backend, ["axolotl.cli.preprocess", "lora.yml"]) for tree in (original, port)]
    prepared = []
    for run in runs:
        assert run.returncode == 0, run.output
        (info,) = (run.folder / "prepared").glob("*/dataset_info.json")
        (data,) = info.parent.glob("*.arrow")
        assert f"{RECORDS}/{RECORDS}" in run.output
        prepared.append(data.read_bytes())
    assert prepared[0] == prepared[1]
    assert runs[1].trapped == []
    figure(f"axolotl preprocess, {backend}: {runs[1].seconds:.1f} s, {RECORDS} records")


@each_backend
def test_sanity_it_trains(backend: str, original: Axolotl, port: Axolotl, figure: Figure) -> None:
    run, reference = port.train(backend), port.train("cpu")
    assert_trained(port, run, "cpu" if backend == "cpu" else "npu:0")
    assert difference(run, reference) <= 1e-4
    assert run.losses() == original.train(backend).losses()
    figure(
        f"axolotl train, {backend}, 1 process: {ends(run)}; off the CPU's by "
        f"{difference(run, reference):.1e}"
    )


def test_nothing_asks_for_cuda(original: Axolotl, port: Axolotl, figure: Figure) -> None:
    asked = ("torch.cuda.is_available", "torch.cuda.device_count")
    trapped = original.train("npu-emulated").trapped
    calls = [line for line in trapped if not line.endswith(asked)]
    figure(
        f"axolotl train, CUDA trap: {len(calls)} calls of the original, and "
        f"{len(trapped) - len(calls)} questions whether CUDA is there; "
        f"{len(port.train('npu-emulated').trapped)} of the port"
    )
    assert len(calls) == 4
    assert port.train("npu-emulated").trapped == []


@each_launcher
@each_backend
def test_two_processes_train(
    backend: str, launcher: str, original: Axolotl, port: Axolotl, figure: Figure
) -> None:
    run, reference = port.train(backend, launcher), port.train("cpu", launcher)
    devices = ["cpu", "cpu"] if backend == "cpu" else ["npu:0", "npu:1"]
    assert_trained(port, run, *devices)
    assert run.collectives == {"gloo" if backend == "cpu" else "hccl"}
    assert run.losses(0) != run.losses(1), "both ranks saw the same records"
    assert difference(run, reference) <= 1e-4
    figure(
        f"axolotl train, {backend}, 2 processes by {launcher}: {ends(run)}; off the CPU's by "
        f"{difference(run, reference):.1e}"
    )
    failed = original.train(backend, launcher)
    assert failed.returncode != 0
    assert (NO_ACCELERATOR if backend == "cpu" else NO_CUDA) in failed.output


@each_backend
def test_it_trains_with_offloaded_checkpoints(
    backend: str, original: Axolotl, port: Axolotl, figure: Figure
) -> None:
    run = port.train(backend, gradient_checkpointing="unsloth")
    assert_trained(port, run, "cpu" if backend == "cpu" else "npu:0")
    assert difference(run, port.train("cpu")) <= 1e-4
    figure(
        f"axolotl train, {backend}, gradient_checkpointing: unsloth: {ends(run)}; off the CPU's "
        f"by {difference(run, port.train('cpu')):.1e}"
    )
    failed = original.train(backend, gradient_checkpointing="unsloth")
    assert failed.returncode != 0
    assert NO_CUDA in failed.output


@pytest.mark.parametrize("asked", [True, "auto"])
def test_bf16_trains_in_bf16(
    asked: bool | str, original: Axolotl, port: Axolotl, figure: Figure
) -> None:
    run, reference = port.train("npu-emulated", bf16=asked), port.train("cpu")
    assert_trained(port, run, "npu:0")
    assert (reference.dtypes, "torch.bfloat16" in run.dtypes) == ({"torch.float32"}, True)
    assert 1e-5 < difference(run, reference) < 1e-2
    figure(
        f"axolotl train, npu-emulated, bf16: {asked}: {ends(run)}; off the CPU's float32 by "
        f"{difference(run, reference):.1e}"
    )
    before = original.train("npu-emulated", bf16=asked)
    if asked is True:
        assert before.returncode != 0
        assert "bf16 requested, but AMP is not supported on this GPU" in before.output
    else:
        assert before.losses() == reference.losses(), "the original trains, in float32"


def test_sanity_bf16_is_refused_without_an_accelerator(original: Axolotl, port: Axolotl) -> None:
    for tree in (original, port):
        run = tree.train("cpu", bf16=True)
        assert run.returncode != 0
        assert "bf16 requested, but AMP is not supported on this GPU" in run.output
        assert tree.train("cpu", bf16="auto").losses() == port.train("cpu").losses()


@each_backend_but_sanity_on_the_cpu
def test_a_prompt_is_answered(
    backend: str, original: Axolotl, port: Axolotl, figure: Figure
) -> None:
    trained = port.train("npu-emulated").folder / "out"
    command = ["axolotl.cli.inference", "lora.yml", f"--lora_model_dir={trained}"]
    run = port.run(backend, command, stdin=f"{PROMPT}\n")
    assert run.returncode == 0, run.output
    assert run.trapped == []
    assert run.devices == {0: {"cpu" if backend == "cpu" else "npu:0"}}
    _, streamed, whole = (part.strip() for part in run.output.split(PROMPT))
    assert streamed.partition("\n")[0] == whole.partition("\n")[0]
    answer = whole.partition("=" * 40)[0].strip()
    assert len(answer) > 5
    figure(f"axolotl inference, {backend}: {run.seconds:.1f} s, {len(answer)} characters")
    if backend == "npu-emulated":
        before = original.run(backend, command, stdin=f"{PROMPT}\n")
        assert before.devices == {0: {"cpu"}}, "the original answers on the CPU"


def test_sanity_on_cuda_nothing_changes(original: Axolotl, port: Axolotl, figure: Figure) -> None:
    command = ["axolotl.cli.train", "lora.yml"]
    before, after = (tree.run("cuda-emulated", command, trace=True) for tree in (original, port))
    assert before.devices == after.devices == {0: {"cuda:0"}}
    assert len(before.losses()) == STEPS
    assert before.losses() == after.losses()
    calls = (before.folder / "trace").read_text().splitlines()
    assert calls == (after.folder / "trace").read_text().splitlines()
    figure(
        f"axolotl train, cuda-emulated: original and port make the same {len(calls)} "
        "calls of the device"
    )


def test_what_is_left_is_left_with_a_reason(port: Axolotl, figure: Figure) -> None:
    done = porter("check", "--all", "--format", "json", str(port.tree))
    assert done.returncode == 1, done.stderr
    findings = [found for file in json.loads(done.stdout)["files"] for found in file["findings"]]
    assert {found["level"] for found in findings} == {"manual"}
    assert all(" " in found["message"] and found["replacement"] is None for found in findings)
    codes = Counter(found["code"] for found in findings)
    kinds = ", ".join(f"{code} {count}" for code, count in sorted(codes.items()))
    figure(f"axolotl, left to a person: {kinds}")
