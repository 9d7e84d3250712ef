"""DataParallel over two emulated CUDA devices. Needs a process with two."""

from __future__ import annotations

import copy

import torch
from torch import nn
from torch.nn.parallel import DataParallel


def test_data_parallel_follows_one_cpu_process() -> None:
    torch.manual_seed(0)
    reference = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 5))
    model = DataParallel(copy.deepcopy(reference).cuda())
    assert model.device_ids == [0, 1]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    reference_optimizer = torch.optim.SGD(reference.parameters(), lr=0.1)
    before = [parameter.detach().clone() for parameter in reference.parameters()]
    for step in range(5):
        inputs = torch.randn(7, 10, generator=torch.Generator().manual_seed(step))
        losses = []
        for net, optim, x in [
            (model, optimizer, inputs.cuda()),
            (reference, reference_optimizer, inputs),
        ]:
            optim.zero_grad()
            loss = net(x).pow(2).mean()
            loss.backward()
            optim.step()
            losses.append(loss.item())
        assert abs(losses[0] - losses[1]) < 1e-6
    assert torch.cuda.max_memory_allocated(1) > 0
    for old, cpu, cuda in zip(before, reference.parameters(), model.parameters(), strict=True):
        assert cuda.device == torch.device("cuda:0")
        assert not torch.equal(old, cuda.detach().cpu())
        assert torch.allclose(cpu, cuda.cpu(), atol=1e-6, rtol=0)
