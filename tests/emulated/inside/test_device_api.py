"""What training code asks of ``torch.npu``."""

from __future__ import annotations

import gc
import io
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch_npu  # type: ignore[import-not-found]
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

npu = torch.get_device_module("npu")


def test_everything_says_that_it_is_emulated() -> None:
    assert "emulated" in npu.get_device_name()
    assert "emulated" in npu.get_device_properties(0).name
    assert "emulated" in torch_npu.__version__
    assert "emulated" in npu.memory_summary()
    with pytest.raises(NotImplementedError, match="emulated"):
        torch_npu.npu.utils.get_soc_version()


def test_the_accelerator_is_npu() -> None:
    assert npu.is_available()
    assert torch.accelerator.current_accelerator() == torch.device("npu")
    assert torch.accelerator.device_count() == npu.device_count() == 1
    assert not torch.cuda.is_available()


def test_to_and_back_keeps_values_types_and_layout() -> None:
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool):
        x = torch.arange(6).reshape(2, 3).to(dtype)
        assert torch.equal(x.to("npu").cpu(), x)
        assert x.to("npu").dtype == dtype
    y = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last).to("npu")
    assert y.is_contiguous(memory_format=torch.channels_last)
    assert torch.ones(3, device="npu").to("npu", torch.float16).dtype == torch.float16


def test_streams_and_events() -> None:
    stream = npu.Stream()
    assert isinstance(stream, torch.Stream)
    assert stream != npu.current_stream()
    with npu.stream(stream):
        assert npu.current_stream() == stream
        start, end = (npu.Event(enable_timing=True) for _ in range(2))
        start.record()
        x = torch.ones(100, 100, device="npu") @ torch.ones(100, 100, device="npu")
        x.record_stream(stream)
        end.record(stream)
    assert npu.current_stream() == npu.default_stream()
    npu.current_stream().wait_stream(stream)
    npu.current_stream().wait_event(end)
    torch.accelerator.current_stream().wait_event(end)
    stream.synchronize()
    end.synchronize()
    assert stream.query()
    assert end.query()
    assert isinstance(end, torch.Event)
    assert start.elapsed_time(end) > 0
    assert end.elapsed_time(start) < 0
    with pytest.raises(RuntimeError, match="enable_timing"):
        npu.Event().elapsed_time(end)
    with pytest.raises(RuntimeError, match="recorded"):
        npu.Event(enable_timing=True).elapsed_time(end)
    assert isinstance(stream.record_event(), npu.Event)
    with npu.stream(None):
        assert npu.current_stream() == npu.default_stream()


def test_generators_are_reproducible_and_apart_from_the_cpus() -> None:
    torch.manual_seed(1)
    assert npu.initial_seed() == 1
    host = torch.get_rng_state()
    state = npu.get_rng_state()
    first = torch.randn(4, device="npu")
    assert torch.equal(torch.get_rng_state(), host)
    npu.set_rng_state(state)
    assert torch.equal(torch.randn(4, device="npu"), first)
    npu.set_rng_state_all([state])
    assert torch.equal(torch.randn(4, device="npu"), first)
    assert torch.equal(npu.get_rng_state_all()[0], npu.get_rng_state())
    with torch.random.fork_rng(devices=[0], device_type="npu"):
        torch.randn(3, device="npu")
        npu.manual_seed_all(9)
    npu.set_rng_state(state)
    assert torch.equal(torch.randn(4, device="npu"), first)

    own = torch.Generator(device="npu").manual_seed(5)
    assert own.device.type == "npu"
    values = torch.randperm(10, generator=own, device="npu")
    own.manual_seed(5)
    assert torch.equal(torch.randperm(10, generator=own, device="npu"), values)
    assert npu.default_generators[0].device.type == "npu"
    with pytest.raises(RuntimeError, match="generator"):
        torch.randn(3, generator=torch.Generator(), device="npu")


def test_memory_is_counted_and_given_back() -> None:
    gc.collect()
    before = npu.memory_allocated()
    x = torch.empty(1 << 20, dtype=torch.uint8, device="npu")
    y = x + 1
    assert npu.memory_allocated() == before + (2 << 20)
    assert npu.max_memory_allocated() >= before + (2 << 20)
    assert npu.memory_reserved() >= npu.memory_allocated()
    assert npu.memory_stats()["allocated_bytes.all.current"] == before + (2 << 20)
    del x, y
    assert npu.memory_allocated() == before
    npu.reset_peak_memory_stats()
    assert npu.max_memory_allocated() == before
    npu.empty_cache()
    free, total = npu.mem_get_info()
    assert 0 < free <= total
    nested = npu.memory_stats_as_nested_dict()
    assert nested["allocated_bytes"]["all"]["current"] == before


def test_the_memory_limit_raises_out_of_memory() -> None:
    _, total = npu.mem_get_info()
    npu.set_per_process_memory_fraction(((1 << 20) + npu.memory_allocated()) / total)
    try:
        half = torch.zeros(150_000, device="npu")
        cases: list[Callable[[], object]] = [
            lambda: torch.empty(150_000, device="npu"),
            lambda: half + 1,
            lambda: torch.zeros(300_000).to("npu"),
        ]
        for allocate in cases:
            with pytest.raises(torch.OutOfMemoryError, match="NPU out of memory"):
                allocate()
        assert issubclass(npu.OutOfMemoryError, RuntimeError)
        assert half.sum().item() == 0
    finally:
        npu.set_per_process_memory_fraction(1.0)
    assert (half + 1).sum().item() == 150_000
    assert npu.get_per_process_memory_fraction() == 1.0


def test_pinned_memory() -> None:
    x = torch.arange(5.0)
    assert not x.is_pinned()
    pinned = x.pin_memory()
    assert pinned.is_pinned()
    assert pinned[2:].is_pinned()
    assert pinned.device.type == "cpu"
    assert torch.equal(pinned.to("npu", non_blocking=True).cpu(), x)
    assert torch.empty(3, pin_memory=True).is_pinned()
    with pytest.raises(RuntimeError, match="pin"):
        torch.empty(3, device="npu", pin_memory=True)


def test_saving_keeps_the_device_and_map_location_moves(tmp_path: Path) -> None:
    model = nn.Linear(3, 2).to("npu")
    path = tmp_path / "model.pt"
    torch.save(model.state_dict(), path)
    for location, device in [
        (None, "npu"),
        ("cpu", "cpu"),
        ("npu:0", "npu"),
        (torch.device("npu"), "npu"),
        ({"npu:0": "cpu"}, "cpu"),
        (lambda storage, _: storage, "cpu"),
    ]:
        state = torch.load(path, map_location=location)
        assert {value.device.type for value in state.values()} == {device}, location
        assert torch.equal(state["weight"].cpu(), model.weight.detach().cpu())
    torch.save({"x": torch.ones(3)}, path)
    assert torch.load(path, map_location="npu")["x"].device.type == "npu"
    clone = pickle.loads(pickle.dumps(model.weight.detach()))
    assert clone.device == torch.device("npu:0")
    buffer = io.BytesIO()
    torch.save(torch.optim.Adam(model.parameters()).state_dict(), buffer)


def test_data_loader_workers_and_pinning() -> None:
    torch.ones(1, device="npu")
    data = TensorDataset(torch.arange(12.0), torch.arange(12))
    loader = DataLoader(data, batch_size=4, num_workers=2, pin_memory=True)
    seen = []
    for x, y in loader:
        assert x.is_pinned()
        moved = x.to("npu", non_blocking=True)
        assert moved.device.type == "npu"
        seen += y.tolist()
        assert moved.tolist() == [float(each) for each in y]
    assert sorted(seen) == list(range(12))


def test_legacy_types() -> None:
    x = npu.FloatTensor([1.0, 2.0])
    assert x.device.type == "npu"
    assert isinstance(x, npu.FloatTensor)
    assert not isinstance(x.cpu(), npu.FloatTensor)
    assert not isinstance(x.half(), npu.FloatTensor)
    assert npu.LongTensor(2, 3).shape == (2, 3)
    assert x.type() == "torch.npu.FloatTensor"
    assert torch.ones(2).type("torch.npu.HalfTensor").dtype == torch.float16


def test_amp_names_of_the_vendor() -> None:
    x = torch.ones(2, 2, device="npu")
    with npu.amp.autocast():
        assert (x @ x).dtype == torch.float16
    weight = nn.Parameter(torch.ones(2, device="npu"))
    optimizer = torch.optim.SGD([weight], lr=0.5)
    scaler = npu.amp.GradScaler(4.0, dynamic=False)
    scaler.scale(weight.sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert weight.tolist() == [0.5, 0.5]
    other = npu.amp.GradScaler()
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict()["dynamic"] is False
    assert other.get_scale() == 4.0
    assert npu.get_amp_supported_dtype() == [torch.float16, torch.bfloat16, torch.float32]


def test_capability_is_none_unless_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TORCH_NPU_DEVICE_CAPABILITY", raising=False)
    with pytest.warns(UserWarning, match="capability"):
        assert npu.get_device_capability() is None
    monkeypatch.setenv("TORCH_NPU_DEVICE_CAPABILITY", "8.0")
    assert npu.get_device_capability() == (8, 0)


def test_vendor_operators_refuse() -> None:
    from torch_npu import npu_fusion_attention

    with pytest.raises(NotImplementedError, match="npu_fusion_attention"):
        npu_fusion_attention(1, 2)
    with pytest.raises(NotImplementedError, match="NPUGraph"):
        npu.NPUGraph()
    with pytest.raises(AttributeError):
        torch_npu.npu_made_up  # noqa: B018


def test_device_arguments_are_checked() -> None:
    with pytest.raises(RuntimeError, match="device"):
        torch.ones(1, device="npu:1")
    with pytest.raises(AssertionError, match="Invalid device id"):
        npu.get_device_name(3)
    with pytest.raises(ValueError, match="npu"):
        npu.set_device("cpu")
    with npu.device(None):
        assert npu.current_device() == 0
