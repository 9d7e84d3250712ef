"""The shim's behaviour on an emulated NPU, with results that the CPU or arithmetic knows.

A process has the emulated NPU from `import torch` on or never: emulated_npu_cases.py runs in a
process of its own, and each program here in others.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch

from tests.runtime.conftest import RUNTIME

if torch.__version__.startswith("2.1."):
    pytest.skip("the emulated NPU is made for the current torch", allow_module_level=True)

from porter.emulated import emulated_env

if TYPE_CHECKING:
    Run = Callable[..., subprocess.CompletedProcess[str]]

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@pytest.fixture
def run_emulated(tmp_path: Path) -> Run:
    """Runs Python on a machine with two emulated NPUs, and one of both kinds of memory."""

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        variables = emulated_env("npu", devices=2)
        path = [str(ROOT), str(RUNTIME), variables["PYTHONPATH"]]
        return subprocess.run(
            [sys.executable, *arguments],
            env={
                **variables,
                "PYTHONPATH": os.pathsep.join(path),
                "OMP_NUM_THREADS": "1",
                **environment,
            },
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=240,
        )

    return run


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


TRAINING = """
import os
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP
import porter_runtime as accel

INPUTS = torch.arange(12.0).reshape(4, 3) / 10

def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))

def steps(model, inputs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        model(inputs).square().mean().backward()
        optimizer.step()

def train(rank, world):
    accel.set_device(rank % max(1, accel.device_count()))
    dist.init_process_group(accel.dist_backend(cpu=True), rank=rank, world_size=world)
    assert accel.current_device() == rank
    here = accel.torch_device(rank)
    ranks = torch.tensor([rank + 1.0])
    dist.all_reduce(ranks)  # over gloo, beside hccl
    assert ranks.item() == 3
    trained = DDP(model().to(here), accel.device_ids(rank), output_device=accel.device_id(rank))
    steps(trained, INPUTS.chunk(world)[rank].to(here))
    dist.barrier(device_ids=accel.device_ids(rank))
    alone, before = model(), model()
    steps(alone, INPUTS)
    for mine, one, old in zip(trained.parameters(), alone.parameters(), before.parameters()):
        assert mine.device == here and accel.is_accelerator(mine)
        assert torch.allclose(mine.cpu(), one, atol=1e-6)
        assert not torch.equal(mine.cpu(), old)
    print("trained as one process does", flush=True)
    dist.destroy_process_group()

if __name__ == "__main__":
    assert accel.dist_backend() == "hccl" and not torch.npu.is_initialized()
    mp.spawn(train, args=(2,), nprocs=accel.device_count())
"""

WORKERS = """
import torch
import torch.multiprocessing as mp
import porter_runtime as accel

def work(index, queue):
    value = torch.full((2,), float(index), device=accel.torch_device(index)) + 1
    queue.put((index, accel.device_type, str(value.device), value.tolist()))

if __name__ == "__main__":
    assert accel.is_available() and accel.device_count() == 2
    for method in ("spawn", "fork"):
        context = mp.get_context(method)
        queue = context.SimpleQueue()
        workers = [context.Process(target=work, args=(i, queue)) for i in range(2)]
        for worker in workers:
            worker.start()
        print(sorted(queue.get() for _ in workers))
        for worker in workers:
            worker.join()
"""


def test_the_cases_on_an_emulated_npu(run_emulated: Run) -> None:
    done = run_emulated(
        *("-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={ROOT}"),
        *(f"--confcutdir={HERE}", "-c", str(ROOT / "pyproject.toml")),
        str(HERE / "emulated_npu_cases.py"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) > 20


def test_two_processes_train_over_emulated_hccl(run_emulated: Run, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINING)
    done = run_emulated("train.py", MASTER_ADDR="127.0.0.1", MASTER_PORT=free_port())
    assert done.returncode == 0, done.stderr
    # Counted, not split into lines: two processes write at the same time.
    assert done.stdout.count("trained as one process does") == 2, done.stdout + done.stderr


def test_workers_compute_on_emulated_npus(run_emulated: Run, tmp_path: Path) -> None:
    """Forked as well, since choosing the device has not started it."""
    (tmp_path / "work.py").write_text(WORKERS)
    done = run_emulated("work.py")
    expected = "[(0, 'npu', 'npu:0', [1.0, 1.0]), (1, 'npu', 'npu:1', [2.0, 2.0])]"
    assert done.stdout.splitlines() == [expected] * 2, done.stderr


def test_an_emulated_machine_without_a_card_falls_back_to_the_cpu(run_emulated: Run) -> None:
    source = "import porter_runtime as accel; print(accel.device_type, accel.device_count())"
    done = run_emulated("-c", source, ASCEND_RT_VISIBLE_DEVICES="")
    assert done.stdout.split() == ["cpu", "0"], done.stderr
    done = run_emulated("-c", source, ASCEND_RT_VISIBLE_DEVICES="", PORTER_DEVICE="npu")
    assert "PORTER_DEVICE=npu, but torch" in done.stderr.splitlines()[-1]
