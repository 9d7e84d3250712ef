"""A small training program, as porter leaves it, and ways to break it."""

from __future__ import annotations

PORT = """\
import sys

import torch

import porter_runtime as accel

torch.manual_seed(0)
device = torch.device(accel.device_type)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
model.to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x = torch.randn(64, 8)
y = x.sum(1, keepdim=True)
for step in range(12):
    inputs, targets = x.to(device), y.to(device)
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item()!r}", flush=True)
"""
"""Trains on whatever device is there, and prints the loss of each step."""

RANKS = """\
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

import porter_runtime as accel

rank = int(os.environ["LOCAL_RANK"])
accel.set_device(rank)
dist.init_process_group(accel.dist_backend())
torch.manual_seed(0)
model = torch.nn.Linear(8, 1).to(accel.torch_device(rank))
wrapped = DDP(model, device_ids=accel.device_ids(rank))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch.manual_seed(rank + 1)
for step in range(8):
    inputs = torch.randn(16, 8).to(accel.torch_device(rank))
    optimizer.zero_grad()
    loss = (wrapped(inputs) - inputs.sum(1, keepdim=True)).square().mean()
    loss.backward()
    optimizer.step()
dist.destroy_process_group()
"""
"""Trains in several processes, each with its own data."""


def broken(program: str, *edits: tuple[str, str]) -> str:
    """Return a program with texts replaced, each of which has to be there."""
    for before, after in edits:
        assert before in program, before
        program = program.replace(before, after)
    return program
