"""SyncBatchNorm on two processes equals BatchNorm on one with the whole batch."""

from __future__ import annotations

import copy

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from tests.emulated.device import DEVICE, module, process_group

dist.init_process_group(process_group)
rank = dist.get_rank()
module.set_device(rank)
torch.manual_seed(0)
reference = nn.Sequential(
    nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(64, 1)
)
synchronized = nn.SyncBatchNorm.convert_sync_batchnorm(  # type: ignore[no-untyped-call]
    copy.deepcopy(reference)
)
model = DistributedDataParallel(synchronized.to(DEVICE), device_ids=[rank])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
reference_optimizer = torch.optim.SGD(reference.parameters(), lr=0.1)
before = [parameter.detach().clone() for parameter in reference.parameters()]

for step in range(5):
    inputs = torch.randn(8, 3, 6, 6, generator=torch.Generator().manual_seed(step))
    optimizer.zero_grad()
    model(inputs[rank * 4 : rank * 4 + 4].to(DEVICE)).tanh().mean().backward()
    optimizer.step()
    reference_optimizer.zero_grad()
    reference(inputs).tanh().mean().backward()
    reference_optimizer.step()

for old, cpu, parameter in zip(before, reference.parameters(), model.parameters(), strict=True):
    assert parameter.device.type == DEVICE
    assert torch.allclose(cpu, parameter.cpu(), atol=1e-6, rtol=0)
    if old.dim() > 1:
        assert not torch.equal(old, parameter.detach().cpu())
for name, buffer in reference.named_buffers():
    ours = synchronized.get_buffer(name)
    assert torch.allclose(buffer, ours.cpu(), atol=1e-6, rtol=1e-6), name
dist.destroy_process_group()
print("done")
