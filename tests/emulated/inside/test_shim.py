"""The runtime shim finds the emulated device. Needs PORTER_DEVICE=npu or cuda."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

import porter_runtime as accel
from tests.emulated.device import DEVICE, module, process_group


def test_the_shim_chooses_the_device_and_starts_nothing() -> None:
    assert accel.device_type == DEVICE
    assert accel.is_available()
    assert accel.dist_backend() == process_group
    assert not module.is_initialized()


def test_an_mlp_trains_through_the_shim() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 5))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    before = [parameter.detach().clone() for parameter in model.parameters()]
    model.to(accel.device_type)
    inputs = torch.randn(16, 10).to(accel.torch_device(0))
    targets = torch.randint(5, (16,)).to(accel.device_type)
    scaler = accel.GradScaler(init_scale=1024.0)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        with accel.autocast():
            loss = F.cross_entropy(model(inputs), targets)
        scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    accel.synchronize()
    assert losses[-1] < losses[0] / 2
    for old, parameter in zip(before, model.parameters(), strict=True):
        assert accel.is_accelerator(parameter)
        assert parameter.device == torch.device(DEVICE, 0)
        assert not torch.equal(old, parameter.detach().cpu())
    assert accel.memory_allocated() > 0


def test_streams_events_and_states_are_the_devices() -> None:
    stream = accel.Stream()  # type: ignore[no-untyped-call]
    with accel.stream(stream):
        assert accel.current_stream() == stream
    event = accel.Event(enable_timing=True)  # type: ignore[no-untyped-call]
    event.record()
    state = accel.get_rng_state()
    first = torch.randn(3, device=accel.device_type)
    accel.set_rng_state(state)
    assert torch.equal(torch.randn(3, device=accel.device_type), first)
