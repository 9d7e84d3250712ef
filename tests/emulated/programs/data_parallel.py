"""DDP over the process group with two processes equals one CPU process on the whole batch."""

from __future__ import annotations

import copy

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from tests.emulated.device import DEVICE, module, process_group

dist.init_process_group(process_group)
rank = dist.get_rank()
module.set_device(rank)
device = torch.device(DEVICE, rank)
torch.manual_seed(0)
reference = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 5))
model = DistributedDataParallel(
    copy.deepcopy(reference).to(device), device_ids=[rank], output_device=rank
)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
reference_optimizer = torch.optim.AdamW(reference.parameters(), lr=0.01)
before = [parameter.detach().clone() for parameter in reference.parameters()]

for step in range(10):
    generator = torch.Generator().manual_seed(step)
    inputs = torch.randn(8, 10, generator=generator)
    targets = torch.randint(5, (8,), generator=generator)
    mine = slice(rank * 4, rank * 4 + 4)
    optimizer.zero_grad()
    loss = F.cross_entropy(model(inputs[mine].to(device)), targets[mine].to(device))
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    reference_optimizer.zero_grad()
    whole = F.cross_entropy(reference(inputs), targets)
    whole.backward()  # type: ignore[no-untyped-call]
    reference_optimizer.step()
    mean = loss.detach().clone()
    dist.all_reduce(mean, op=dist.ReduceOp.AVG)
    assert abs(mean.item() - whole.item()) < 1e-6, (step, mean.item(), whole.item())

for old, cpu, ours in zip(before, reference.parameters(), model.parameters(), strict=True):
    assert ours.device == device
    assert ours.grad is not None
    assert ours.grad.device == device
    assert not torch.equal(old, ours.detach().cpu())
    assert torch.allclose(cpu, ours.cpu(), atol=1e-6, rtol=0)
dist.destroy_process_group()
print("done")
