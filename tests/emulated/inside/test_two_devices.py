"""Two emulated NPUs are apart. Needs a process with two."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

npu = torch.get_device_module("npu")


def test_tensors_of_two_devices_dont_mix() -> None:
    first, second = torch.ones(3, device="npu:0"), torch.ones(3, device="npu:1")
    cases: list[Callable[[], object]] = [
        lambda: first + second,
        lambda: torch.cat([first, second]),
        lambda: first @ second,
    ]
    for mix in cases:
        with pytest.raises(RuntimeError, match="npu:0"):
            mix()
    with pytest.raises(RuntimeError, match="npu:0"):
        first + torch.tensor(1.0, device="npu:1")
    assert (first + second.to("npu:0")).device == torch.device("npu:0")
    first.copy_(second * 2)
    assert first.tolist() == [2, 2, 2]


def test_the_current_device_is_where_npu_means() -> None:
    assert npu.current_device() == 0
    with npu.device(1):
        assert torch.ones(1, device="npu").device == torch.device("npu:1")
        assert npu.current_stream().device == torch.device("npu:1")
        with npu.device_of(torch.ones(1, device="npu:0")):
            assert npu.current_device() == 0
        assert torch.ones(1).to("npu").device == torch.device("npu:1")
    assert npu.current_device() == 0
    npu.set_device("npu:1")
    assert torch.accelerator.current_device_index() == 1
    npu.set_device(0)


def test_results_follow_their_operands_not_the_current_device() -> None:
    x = torch.ones(3, device="npu:1")
    assert (x * 2).device == x.device
    assert torch.randn_like(x).device == x.device
    assert x.nonzero().device == x.device


def test_memory_and_generators_are_per_device() -> None:
    before = npu.memory_allocated(0)
    x = torch.ones(1000, device="npu:1")
    assert npu.memory_allocated(1) == 4000
    assert npu.memory_allocated(0) == before
    del x
    npu.manual_seed_all(4)
    assert torch.equal(torch.randn(3, device="npu:0").cpu(), torch.randn(3, device="npu:1").cpu())
    first, second = npu.get_rng_state_all()
    torch.randn(1, device="npu:1")
    assert torch.equal(npu.get_rng_state(0), first)
    assert not torch.equal(npu.get_rng_state(1), second)
    assert npu.can_device_access_peer(0, 1)


def test_a_stream_of_another_device_makes_it_current() -> None:
    stream = npu.Stream(device=1)
    with npu.stream(stream):
        assert npu.current_device() == 1
        assert npu.current_stream() == stream
    assert npu.current_device() == 0
    assert npu.current_stream(1) == npu.default_stream(1)
