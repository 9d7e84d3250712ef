"""Without an accelerator: torch.cuda's answer where it has one, a useful one where it raises."""

from __future__ import annotations

import inspect
import os
import time
import warnings
from collections import OrderedDict
from typing import Any

import pytest
import torch

from porter_runtime import _names

STATE = torch.get_rng_state()
MACHINE = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

# name -> (arguments, the answer on a CPU)
ANSWERS: dict[str, tuple[tuple[Any, ...], Any]] = {
    "is_available": ((), False),
    "device_count": ((), 0),
    "current_device": ((), 0),
    "set_device": ((3,), None),
    "init": ((), None),
    "is_initialized": ((), False),
    "synchronize": ((), None),
    "get_device_name": ((0,), "cpu"),
    "get_device_properties": ((0,), ("cpu", MACHINE)),
    "get_device_capability": ((), None),
    "is_bf16_supported": ((), False),
    "is_tf32_supported": ((), False),
    "can_device_access_peer": ((0, 1), False),
    "utilization": ((), 0),
    "get_sync_debug_mode": ((), 0),
    "set_sync_debug_mode": (("warn",), None),
    "empty_cache": ((), None),
    "ipc_collect": ((), None),
    "memory_allocated": ((), 0),
    "max_memory_allocated": ((0,), 0),
    "memory_reserved": ((), 0),
    "max_memory_reserved": ((), 0),
    "memory_cached": ((), 0),
    "max_memory_cached": ((), 0),
    "memory_stats": ((), OrderedDict()),
    "memory_stats_as_nested_dict": ((), {}),
    "memory_summary": ((), ""),
    "memory_snapshot": ((), []),
    "reset_peak_memory_stats": ((), None),
    "reset_accumulated_memory_stats": ((), None),
    "reset_max_memory_allocated": ((), None),
    "reset_max_memory_cached": ((), None),
    "get_per_process_memory_fraction": ((), 1.0),
    "set_per_process_memory_fraction": ((0.5,), None),
    "manual_seed": ((1,), None),
    "manual_seed_all": ((1,), None),
    "seed": ((), None),
    "seed_all": ((), None),
    "initial_seed": ((), torch.initial_seed),
    "get_rng_state_all": ((), []),
    "set_rng_state_all": (([],), None),
    "set_stream": ((None,), None),
    "is_current_stream_capturing": ((), False),
}

# What isn't compared by value: tested on their own below and in the other files.
OTHERS = {
    "device", "device_of", "Stream", "Event", "StreamContext", "stream", "current_stream",
    "default_stream", "get_rng_state", "set_rng_state", "mem_get_info", "default_generators",
    "OutOfMemoryError", "nvtx",
}  # fmt: skip


def test_every_mirrored_name_is_tested() -> None:
    types = _names.TENSOR_TYPES | _names.STORAGE_TYPES
    assert set(ANSWERS) | OTHERS | types == _names.MIRRORED


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_answer(name: str, accel: Any) -> None:
    arguments, expected = ANSWERS[name]
    expected = expected() if callable(expected) else expected
    assert getattr(accel, name)(*arguments) == expected
    if torch.cuda.is_available():
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            original = getattr(torch.cuda, name)(*arguments)
        except Exception:  # it raises without CUDA: the answer above stands alone
            return
    assert expected == original


CALLED = set(ANSWERS) | OTHERS - {"OutOfMemoryError", "nvtx", "default_generators"}


@pytest.mark.parametrize("name", sorted(name for name in CALLED if hasattr(torch.cuda, name)))
def test_parameters_are_torch_cudas(name: str, accel: Any) -> None:
    wanted = list(inspect.signature(getattr(torch.cuda, name)).parameters)
    assert list(inspect.signature(getattr(accel, name)).parameters)[: len(wanted)] == wanted


@pytest.mark.parametrize("name", sorted(_names.TENSOR_TYPES | _names.STORAGE_TYPES))
def test_legacy_types_are_the_cpus(name: str, accel: Any) -> None:
    assert getattr(accel, name) is getattr(torch, name)


def test_legacy_type_makes_tensors(accel: Any) -> None:
    made = accel.HalfTensor(2).zero_()
    assert (made.dtype, made.device.type, made.tolist()) == (torch.float16, "cpu", [0.0, 0.0])
    assert accel.DoubleTensor(1).dtype is torch.float64


@pytest.mark.parametrize("index", [None, -1, 0, 3, "cuda:1", torch.device("cpu")])
def test_device_contexts_take_anything(index: Any, accel: Any) -> None:
    with accel.device(index), accel.device_of(torch.ones(1)), accel.stream(None):
        accel.set_device(index)
        assert accel.current_device() == 0


def test_capability_is_not_made_up(accel: Any) -> None:
    properties = accel.get_device_properties("cuda")
    assert properties.total_memory == MACHINE
    for field in ("major", "minor", "multi_processor_count"):
        assert not hasattr(properties, field)


def test_mem_get_info_is_the_machines(accel: Any) -> None:
    free, total = accel.mem_get_info()
    assert 0 < free <= total == MACHINE


def test_events_measure_time(accel: Any) -> None:
    start, end = accel.Event(enable_timing=True), accel.Event(enable_timing=True)
    start.record()
    time.sleep(0.05)
    end.record(accel.current_stream())
    end.synchronize()
    assert end.query() is True
    assert 50 <= start.elapsed_time(end) < 5000
    assert isinstance(start.elapsed_time(end), float)


def test_events_refuse_what_torch_refuses(accel: Any) -> None:
    timed, untimed = accel.Event(enable_timing=True), accel.Event()
    timed.record()
    untimed.record()
    with pytest.raises(ValueError, match="enable_timing"):
        timed.elapsed_time(untimed)
    with pytest.raises(ValueError, match="recorded"):
        timed.elapsed_time(accel.Event(enable_timing=True))


def test_streams_order_work(accel: Any) -> None:
    side = accel.Stream(device=0, priority=-1)
    with accel.stream(side):
        result = torch.ones(3) * 2
        done = side.record_event()
    accel.current_stream().wait_stream(side)
    accel.current_stream().wait_event(done)
    accel.record_stream(result, accel.current_stream())
    side.synchronize()
    assert side.query()
    assert done.query()
    assert result.tolist() == [2.0, 2.0, 2.0]
    assert accel.current_stream() == accel.default_stream() != side
    assert isinstance(side, accel.Stream)
    assert isinstance(done, accel.Event)
    assert not hasattr(side, "cuda_stream")


def test_rng_state_round_trips(accel: Any) -> None:
    state = accel.get_rng_state()
    first = torch.rand(4)
    accel.set_rng_state(state)
    assert torch.equal(torch.rand(4), first)


@pytest.mark.parametrize("restore", ["one", "all"])
def test_foreign_rng_state_warns_and_changes_nothing(
    restore: str, accel: Any, warned: list[str]
) -> None:
    before = torch.get_rng_state()
    foreign = torch.zeros(16, dtype=torch.uint8)
    if restore == "one":
        accel.set_rng_state(foreign)
    else:
        accel.set_rng_state_all([foreign, foreign])
    assert len(warned) == 1
    assert "saved on another kind or number of devices" in warned[0]
    assert torch.equal(torch.get_rng_state(), before)


def test_seeding_leaves_the_cpus_generator_alone(accel: Any) -> None:
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    accel.manual_seed_all(1)
    accel.seed_all()
    assert torch.equal(torch.rand(3), expected)
    assert accel.initial_seed() == torch.initial_seed() == 7
    assert accel.default_generators == ()


def test_nvtx_marks_nothing(accel: Any) -> None:
    nvtx = accel.nvtx

    @nvtx.range("decorated")  # type: ignore[untyped-decorator]
    def double(x: int) -> int:
        return 2 * x

    with nvtx.range("step {}", 1):
        assert nvtx.range_push("a") == 0
        nvtx.mark("b")
        assert nvtx.range_pop() == 0
        nvtx.range_end(nvtx.range_start("c"))
    assert double(2) == 4


def test_out_of_memory_error_is_torchs_class(accel: Any) -> None:
    assert accel.OutOfMemoryError is torch.cuda.OutOfMemoryError
    with pytest.raises(accel.OutOfMemoryError):
        raise torch.cuda.OutOfMemoryError("CUDA out of memory")
