"""FSDP2 over the process group with two processes follows one CPU process on the whole batch."""

from __future__ import annotations

import copy

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor

from tests.emulated.device import DEVICE, module, process_group


def local(parameter: torch.Tensor) -> torch.Tensor:
    """Returns this process's shard."""
    assert isinstance(parameter, DTensor)
    return parameter.to_local()


dist.init_process_group(process_group)
rank = dist.get_rank()
module.set_device(rank)
mesh = init_device_mesh(DEVICE, (2,))
torch.manual_seed(0)
reference = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
model = copy.deepcopy(reference).to(DEVICE)
fully_shard(model[0], mesh=mesh)
fully_shard(model, mesh=mesh)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
reference_optimizer = torch.optim.SGD(reference.parameters(), lr=0.1, momentum=0.9)
before = [local(parameter).detach().clone() for parameter in model.parameters()]

for step in range(6):
    generator = torch.Generator().manual_seed(step)
    inputs = torch.randn(8, 10, generator=generator)
    targets = torch.randint(4, (8,), generator=generator)
    mine = slice(rank * 4, rank * 4 + 4)
    optimizer.zero_grad()
    loss = F.cross_entropy(model(inputs[mine].to(DEVICE)), targets[mine].to(DEVICE))
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    reference_optimizer.zero_grad()
    whole = F.cross_entropy(reference(inputs), targets)
    whole.backward()  # type: ignore[no-untyped-call]
    reference_optimizer.step()
    mean = loss.detach().clone()
    dist.all_reduce(mean, op=dist.ReduceOp.AVG)
    assert abs(mean.item() - whole.item()) < 1e-6, (step, mean.item(), whole.item())

for old, parameter in zip(before, model.parameters(), strict=True):
    assert parameter.device.type == DEVICE
    assert not torch.equal(old, local(parameter))
dist.destroy_process_group()
print("done")
