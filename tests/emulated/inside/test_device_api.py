"""What training code asks of ``torch.npu`` and of ``torch.cuda``."""

from __future__ import annotations

import gc
import io
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from tests.emulated.device import DEVICE, NAME, module


def test_to_and_back_keeps_values_types_and_layout() -> None:
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool):
        x = torch.arange(6).reshape(2, 3).to(dtype)
        assert torch.equal(x.to(DEVICE).cpu(), x)
        assert x.to(DEVICE).dtype == dtype
    y = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last).to(DEVICE)
    assert y.is_contiguous(memory_format=torch.channels_last)
    assert torch.ones(3, device=DEVICE).to(DEVICE, torch.float16).dtype == torch.float16


def test_streams_and_events() -> None:
    stream = module.Stream()
    assert isinstance(stream, torch.Stream)
    assert stream != module.current_stream()
    with module.stream(stream):
        assert module.current_stream() == stream
        start, end = (module.Event(enable_timing=True) for _ in range(2))
        start.record()
        x = torch.ones(100, 100, device=DEVICE) @ torch.ones(100, 100, device=DEVICE)
        x.record_stream(stream)
        end.record(stream)
    assert module.current_stream() == module.default_stream()
    module.current_stream().wait_stream(stream)
    module.current_stream().wait_event(end)
    torch.accelerator.current_stream().wait_event(end)
    stream.synchronize()
    end.synchronize()
    assert stream.query()
    assert end.query()
    assert isinstance(end, torch.Event)
    assert start.elapsed_time(end) > 0
    assert end.elapsed_time(start) < 0
    with pytest.raises((RuntimeError, ValueError), match="enable_timing"):
        module.Event().elapsed_time(end)
    with pytest.raises(RuntimeError, match="recorded"):
        module.Event(enable_timing=True).elapsed_time(end)
    assert isinstance(stream.record_event(), module.Event)
    with module.stream(None):
        assert module.current_stream() == module.default_stream()


def test_generators_are_reproducible_and_apart_from_the_cpus() -> None:
    torch.manual_seed(1)
    assert module.initial_seed() == 1
    host = torch.get_rng_state()
    state = module.get_rng_state()
    first = torch.randn(4, device=DEVICE)
    assert torch.equal(torch.get_rng_state(), host)
    module.set_rng_state(state)
    assert torch.equal(torch.randn(4, device=DEVICE), first)
    module.set_rng_state_all([state])
    assert torch.equal(torch.randn(4, device=DEVICE), first)
    assert torch.equal(module.get_rng_state_all()[0], module.get_rng_state())
    with torch.random.fork_rng(devices=[0], device_type=DEVICE):
        torch.randn(3, device=DEVICE)
        module.manual_seed_all(9)
    module.set_rng_state(state)
    assert torch.equal(torch.randn(4, device=DEVICE), first)

    own = torch.Generator(device=DEVICE).manual_seed(5)
    assert own.device.type == DEVICE
    values = torch.randperm(10, generator=own, device=DEVICE)
    own.manual_seed(5)
    assert torch.equal(torch.randperm(10, generator=own, device=DEVICE), values)
    assert module.default_generators[0].device.type == DEVICE
    with pytest.raises(RuntimeError, match="generator"):
        torch.randn(3, generator=torch.Generator(), device=DEVICE)


def test_memory_is_counted_and_given_back() -> None:
    gc.collect()
    before = module.memory_allocated()
    x = torch.empty(1 << 20, dtype=torch.uint8, device=DEVICE)
    y = x + 1
    assert module.memory_allocated() == before + (2 << 20)
    assert module.max_memory_allocated() >= before + (2 << 20)
    assert module.memory_reserved() >= module.memory_allocated()
    assert module.memory_stats()["allocated_bytes.all.current"] == before + (2 << 20)
    del x, y
    assert module.memory_allocated() == before
    module.reset_peak_memory_stats()
    assert module.max_memory_allocated() == before
    module.empty_cache()
    free, total = module.mem_get_info()
    assert 0 < free <= total
    nested = module.memory_stats_as_nested_dict()
    assert nested["allocated_bytes"]["all"]["current"] == before


def test_the_memory_limit_raises_out_of_memory() -> None:
    _, total = module.mem_get_info()
    module.set_per_process_memory_fraction(((1 << 20) + module.memory_allocated()) / total)
    try:
        half = torch.zeros(150_000, device=DEVICE)
        cases: list[Callable[[], object]] = [
            lambda: torch.empty(150_000, device=DEVICE),
            lambda: half + 1,
            lambda: torch.zeros(300_000).to(DEVICE),
        ]
        for allocate in cases:
            with pytest.raises(torch.OutOfMemoryError, match=f"{NAME} out of memory"):
                allocate()
        assert issubclass(module.OutOfMemoryError, RuntimeError)
        assert half.sum().item() == 0
    finally:
        module.set_per_process_memory_fraction(1.0)
    assert (half + 1).sum().item() == 150_000
    assert module.get_per_process_memory_fraction() == 1.0


def test_pinned_memory() -> None:
    x = torch.arange(5.0)
    assert not x.is_pinned()
    pinned = x.pin_memory()
    assert pinned.is_pinned()
    assert pinned[2:].is_pinned()
    assert pinned.device.type == "cpu"
    assert torch.equal(pinned.to(DEVICE, non_blocking=True).cpu(), x)
    assert torch.empty(3, pin_memory=True).is_pinned()
    with pytest.raises(RuntimeError, match="pin"):
        torch.empty(3, device=DEVICE, pin_memory=True)


def test_saving_keeps_the_device_and_map_location_moves(tmp_path: Path) -> None:
    model = nn.Linear(3, 2).to(DEVICE)
    path = tmp_path / "model.pt"
    torch.save(model.state_dict(), path)
    for location, device in [
        (None, DEVICE),
        ("cpu", "cpu"),
        (f"{DEVICE}:0", DEVICE),
        (torch.device(DEVICE), DEVICE),
        ({f"{DEVICE}:0": "cpu"}, "cpu"),
        (lambda storage, _: storage, "cpu"),
    ]:
        state = torch.load(path, map_location=location)
        assert {value.device.type for value in state.values()} == {device}, location
        assert torch.equal(state["weight"].cpu(), model.weight.detach().cpu())
    torch.save({"x": torch.ones(3)}, path)
    assert torch.load(path, map_location=DEVICE)["x"].device.type == DEVICE
    clone = pickle.loads(pickle.dumps(model.weight.detach()))
    assert clone.device == torch.device(DEVICE, 0)
    buffer = io.BytesIO()
    torch.save(torch.optim.Adam(model.parameters()).state_dict(), buffer)


def test_data_loader_workers_and_pinning() -> None:
    torch.ones(1, device=DEVICE)
    data = TensorDataset(torch.arange(12.0), torch.arange(12))
    loader = DataLoader(data, batch_size=4, num_workers=2, pin_memory=True)
    seen = []
    for x, y in loader:
        assert x.is_pinned()
        moved = x.to(DEVICE, non_blocking=True)
        assert moved.device.type == DEVICE
        seen += y.tolist()
        assert moved.tolist() == [float(each) for each in y]
    assert sorted(seen) == list(range(12))


def test_legacy_types() -> None:
    x = module.FloatTensor([1.0, 2.0])
    assert x.device.type == DEVICE
    assert isinstance(x, module.FloatTensor)
    assert not isinstance(x.cpu(), module.FloatTensor)
    assert not isinstance(x.half(), module.FloatTensor)
    assert module.LongTensor(2, 3).shape == (2, 3)
    assert x.type() == f"torch.{DEVICE}.FloatTensor"
    assert torch.ones(2).type(f"torch.{DEVICE}.HalfTensor").dtype == torch.float16


def test_device_arguments_are_checked() -> None:
    with pytest.raises(RuntimeError, match="device"):
        torch.ones(1, device=f"{DEVICE}:1")
    with pytest.raises(AssertionError, match="Invalid device id"):
        module.get_device_name(3)
    with pytest.raises(ValueError, match=DEVICE):
        module.set_device("cpu")
    with module.device(None):
        assert module.current_device() == 0
