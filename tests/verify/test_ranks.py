"""Several ranks, by real launchers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from porter.verify.outcome import Run
from tests.fixtures.trainings import ABORTED_AT_EXIT, ATTEMPTS
from tests.verify.conftest import alive_in, findings, judged, train
from tests.verify.programs import RANKS, broken

pytestmark = pytest.mark.slow

TORCHRUN = [
    sys.executable, "-m", "torch.distributed.run", "--master-port={port}", "--nproc-per-node=2",
    "train.py",
]  # fmt: skip
ACCELERATE = [
    sys.executable, "-m", "accelerate.commands.accelerate_cli", "launch", "--num_machines=1",
    "--num_processes=2", "--main_process_port={port}",
]  # fmt: skip


def pair(
    folder: Path, program: str, backend: str = "npu-emulated", command: Sequence[str] = TORCHRUN
) -> Run:
    """Returns a run of two ranks; one that gloo aborted at its end counts for nothing."""
    for attempt in range(ATTEMPTS):
        run = train(folder / str(attempt), program, backend, command=command, devices=2)
        if ABORTED_AT_EXIT not in run.tail:
            break
    return run


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Run:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        root = Path(__file__).resolve().parents[2]
        patch.setenv("PYTHONPATH", str(root / "runtime"))
        run = pair(tmp_path_factory.mktemp("port"), RANKS, "cpu")
    assert run.status == "trained", run.tail
    return run


def test_two_ranks_of_torchrun(reference: Run, tmp_path: Path) -> None:
    run = pair(tmp_path / "port", RANKS)
    outcome = judged(reference, run)
    assert outcome.verdict == "agree", (outcome.findings, run.tail)
    assert [(p.rank, p.world_size, p.process_group) for p in run.processes] == [
        (0, 2, "hccl"),
        (1, 2, "hccl"),
    ]
    assert [p.device for p in run.processes] == ["npu:0", "npu:1"]
    assert [p.process_group for p in reference.processes] == ["gloo", "gloo"]
    first, second = run.processes
    assert first.same_weights == second.same_weights != {}
    assert first.curves[0].loss != second.curves[0].loss


def test_the_wrong_collectives_are_caught(reference: Run, tmp_path: Path) -> None:
    """gloo takes no tensors of an NPU; a program copies them to the CPU to be content with it."""
    edits = [
        ("accel.dist_backend()", "'gloo'"),
        ("wrapped = DDP(model, device_ids=accel.device_ids(rank))", "wrapped = model"),
        ("    optimizer.step()", "    for p in model.parameters():\n"
         "        grad = p.grad.cpu() / 2\n        dist.all_reduce(grad)\n"
         "        p.grad.copy_(grad)\n    optimizer.step()"),
    ]  # fmt: skip
    run = pair(tmp_path / "port", broken(RANKS, *edits))
    outcome = judged(reference, run)
    assert outcome.verdict == "mismatch", run.tail
    assert {finding.message for finding in findings(outcome, "wrong-backend")} == {
        "the process group runs over gloo, where hccl was meant"
    }


def test_a_rank_that_goes_its_own_way_is_caught(reference: Run, tmp_path: Path) -> None:
    alone = (
        "    if rank and accel.device_type == 'npu':\n        model.weight.grad.mul_(1.001)\n"
        "    optimizer.step()"
    )
    run = pair(tmp_path / "port", broken(RANKS, ("    optimizer.step()", alone)))
    outcome = judged(reference, run)
    assert outcome.verdict == "mismatch"
    (finding,) = findings(outcome, "diverged")
    assert finding.rank == 1
    assert finding.message == (
        "rank 1 diverges from rank 0: after step 1 of SGD their parameters differ, and the "
        "reference's don't"
    )


def test_fewer_ranks_are_caught(reference: Run, tmp_path: Path) -> None:
    one = [*TORCHRUN[:4], "--nproc-per-node=1", "train.py"]
    run = train(tmp_path / "port", RANKS, "npu-emulated", command=one)
    outcome = judged(reference, run)
    assert outcome.verdict == "mismatch"
    (finding,) = findings(outcome, "processes")
    assert finding.message == "1 process(es) trained where cpu had 2"


def test_the_last_attempt_of_an_elastic_launcher_counts(reference: Run, tmp_path: Path) -> None:
    # Alone, the first time: gloo doesn't always come together again after a rank has failed.
    first = (
        "if os.environ['TORCHELASTIC_RESTART_COUNT'] == '0':\n"
        "    weight = torch.nn.Parameter(torch.ones(1, device=accel.device_type))\n"
        "    optimizer = torch.optim.SGD([weight], lr=1.0)\n"
        "    for step in range(4):\n"
        "        weight.sum().backward()\n"
        "        optimizer.step()\n"
        "    raise SystemExit(3)\n"
    )
    start = "dist.init_process_group"
    program = broken(RANKS, (start, first + start))
    command = [*TORCHRUN[:3], "--standalone", "--max-restarts=1", *TORCHRUN[4:]]
    run = train(tmp_path / "port", program, "npu-emulated", command=command, devices=2)
    assert run.status == "trained", run.tail
    assert run.restarts == 1
    assert [(p.rank, p.stage, p.steps) for p in run.processes] == [(0, 0, 8), (1, 0, 8)]
    outcome = judged(reference, run)
    assert outcome.verdict == "agree"
    (finding,) = findings(outcome, "restarted")
    assert finding.message == "the launcher restarted it 1 time(s)"


def test_a_rank_that_fails_leaves_no_process(tmp_path: Path) -> None:
    fails = (
        "    if step == 4 and rank == 1:\n        raise ValueError('rank 1')\n    optimizer.step()"
    )
    run = pair(tmp_path / "port", broken(RANKS, ("    optimizer.step()", fails)), "cpu")
    assert run.status == "crashed"
    assert run.reason == "it ended with exit code 1: rank 1: ValueError: rank 1 (train.py:23)"
    assert alive_in(tmp_path) == []


ACCELERATED = """\
import accelerate
import torch

torch.manual_seed(0)
accelerator = accelerate.Accelerator(cpu={cpu}, gradient_accumulation_steps=2)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
batches = torch.utils.data.DataLoader(torch.randn(64, 4), batch_size=4)
model, optimizer, batches = accelerator.prepare(model, optimizer, batches)
for batch in batches:
    with accelerator.accumulate(model):
        loss = (model(batch) - batch.sum(1, keepdim=True)).square().mean()
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
accelerator.end_training()
"""


def test_two_ranks_of_accelerate_launch(tmp_path: Path) -> None:
    pytest.importorskip("accelerate")
    cpu = pair(tmp_path / "cpu", ACCELERATED.format(cpu=True), "cpu")
    assert cpu.status == "trained", cpu.tail
    launch = [*ACCELERATE, "--multi_gpu", "train.py"]
    npu = pair(tmp_path / "npu", ACCELERATED.format(cpu=False), command=launch)
    assert npu.status == "trained", npu.tail
    outcome = judged(cpu, npu)
    assert outcome.verdict == "agree", outcome.findings
    assert [(p.rank, p.steps, p.process_group) for p in npu.processes] == [
        (0, 4, "hccl"),
        (1, 4, "hccl"),
    ]
