"""Accelerate and Hugging Face's Trainer take the emulated devices for real ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emulated.conftest import Run

PROGRAMS = Path(__file__).parent / "programs"
TORCHRUN = ("torch.distributed.run", "--standalone", "--nproc-per-node=2")

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("backend", ["npu", "cuda"])]
DISTRIBUTED_TYPE = {"npu": "MULTI_NPU", "cuda": "MULTI_GPU"}


@pytest.mark.parametrize("precision", ["no", "fp16", "bf16"])
def test_accelerate_launches_two_processes(backend: str, precision: str, run_emulated: Run) -> None:
    pytest.importorskip("accelerate")
    child = run_emulated(
        "-m", "accelerate.commands.launch", "--num_processes=2", f"--mixed_precision={precision}",
        str(PROGRAMS / "accelerated.py"), backend=backend, devices=2,
    )  # fmt: skip
    assert child.returncode == 0, child.stderr
    assert child.stdout.count(f"done on DistributedType.{DISTRIBUTED_TYPE[backend]}") == 2


@pytest.mark.parametrize("processes", [1, 2])
def test_the_trainer_trains(
    backend: str, processes: int, tmp_path: Path, run_emulated: Run
) -> None:
    pytest.importorskip("transformers")
    launcher = ("-m", *TORCHRUN) if processes == 2 else ()
    child = run_emulated(
        *launcher, str(PROGRAMS / "trainer.py"), str(tmp_path), backend=backend, devices=processes,
        HF_HUB_OFFLINE="1",
    )  # fmt: skip
    assert child.returncode == 0, child.stderr
    assert child.stdout.count("done") == processes
