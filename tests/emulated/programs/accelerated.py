"""An Accelerate loop, for ``accelerate launch``."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from accelerate import Accelerator  # type: ignore[import-not-found,import-untyped,unused-ignore]
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from tests.emulated.device import DEVICE

accelerator = Accelerator()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 5))
before = [parameter.detach().clone() for parameter in model.parameters()]
optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
data = TensorDataset(torch.randn(64, 10), torch.randint(5, (64,)))
model, optimizer, loader = accelerator.prepare(
    model, optimizer, DataLoader(data, batch_size=8, shuffle=True)
)
epochs = []
for _ in range(4):
    losses = []
    for inputs, targets in loader:
        loss = F.cross_entropy(model(inputs), targets)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(accelerator.gather(loss.detach()).mean().item())
    epochs.append(sum(losses) / len(losses))

assert accelerator.device.type == DEVICE
assert epochs[-1] < epochs[0], epochs
for old, parameter in zip(before, model.parameters(), strict=True):
    assert parameter.device == accelerator.device
    assert not torch.equal(old, parameter.detach().cpu())
accelerator.wait_for_everyone()
print(f"done on {accelerator.distributed_type}", flush=True)
accelerator.end_training()
