"""Workers, pickles and two processes over gloo."""

from __future__ import annotations

from typing import Any

WORKERS = """
import torch
import torch.multiprocessing as mp
import porter_runtime as accel

def work(index, queue):
    queue.put((index, accel.device_type, accel.torch_device(index).type))

if __name__ == "__main__":
    first = accel.device_type
    context = mp.get_context(METHOD)
    queue = context.SimpleQueue()
    workers = [context.Process(target=work, args=(i, queue)) for i in range(2)]
    for worker in workers:
        worker.start()
    answers = sorted(queue.get() for _ in workers)
    for worker in workers:
        worker.join()
    print(answers, [worker.exitcode for worker in workers])
"""

TRAINING = """
import os
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP
import porter_runtime as accel

def train(rank, world):
    accel.set_device(rank % max(1, accel.device_count()))
    dist.init_process_group(accel.dist_backend(), rank=rank, world_size=world)
    assert dist.get_backend() == accel.dist_backend()
    torch.manual_seed(0)
    model = torch.nn.Linear(2, 1).to(accel.torch_device(rank))
    before = model.weight.detach().clone()
    model = DDP(model, device_ids=accel.device_ids(rank), output_device=accel.device_id(rank))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.full((1, 2), float(rank + 1))).sum().backward()
    optimizer.step()
    dist.barrier(device_ids=accel.device_ids(rank))
    # The mean of the two ranks' gradients, 1 and 2.
    assert torch.allclose(model.module.weight, before - 0.1 * 1.5)
    if rank == 0:
        print("trained", flush=True)
    dist.destroy_process_group()

if __name__ == "__main__":
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=FREE_PORT)
    mp.spawn(train, args=(2,), nprocs=2)
"""

SAVING = """
import pickle
import sys
import torch
import porter_runtime as accel

class Model(torch.nn.Linear):
    pass

Model.__module__, sys.modules["models"] = "models", sys.modules["__main__"]
model = Model(2, 2).to(accel.torch_device(0))
model.where = accel.torch_device(0)
model.kind = accel.device_type
model.scaler = accel.GradScaler(enabled=False)
model.context = accel.autocast(enabled=False)
model.states = accel.get_rng_state_all()
torch.save(model, "model.pt")
"""

LOADING = """
import sys, types
import torch
models = types.ModuleType("models")
models.Model = type("Model", (torch.nn.Linear,), {"__module__": "models"})
sys.modules["models"] = models
sys.modules["porter_runtime"] = None
model = torch.load("model.pt", **KEYWORDS)
with model.context:
    print(model(torch.ones(2)).shape, model.where, model.kind, model.scaler.is_enabled())
"""


def test_workers_choose_alike(run_python: Any) -> None:
    for method in ("spawn", "fork"):
        done = run_python(WORKERS.replace("METHOD", repr(method)), PORTER_DEVICE="cpu")
        expected = "[(0, 'cpu', 'cpu'), (1, 'cpu', 'cpu')] [0, 0]"
        assert done.stdout.strip() == expected, done.stderr


def test_two_processes_train_over_gloo(run_python: Any) -> None:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    done = run_python(TRAINING.replace("FREE_PORT", repr(str(port))), PORTER_DEVICE="cpu")
    assert done.stdout.strip() == "trained", done.stderr


def test_a_pickled_model_loads_without_the_shim(run_python: Any) -> None:
    done = run_python(SAVING, PORTER_DEVICE="cpu")
    assert done.returncode == 0, done.stderr
    import torch

    keywords = {} if torch.__version__.startswith("2.1.") else {"weights_only": False}
    done = run_python(LOADING.replace("**KEYWORDS", f"**{keywords!r}"))
    assert done.stdout.strip() == "torch.Size([2]) cpu cpu False", done.stderr
