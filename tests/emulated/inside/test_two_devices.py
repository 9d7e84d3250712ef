"""Two emulated devices are apart. Needs a process with two."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from tests.emulated.device import DEVICE, module

FIRST, SECOND = (torch.device(DEVICE, index) for index in range(2))


def test_tensors_of_two_devices_dont_mix() -> None:
    first, second = torch.ones(3, device=FIRST), torch.ones(3, device=SECOND)
    cases: list[Callable[[], object]] = [
        lambda: first + second,
        lambda: torch.cat([first, second]),
        lambda: first @ second,
    ]
    for mix in cases:
        with pytest.raises(RuntimeError, match=str(FIRST)):
            mix()
    with pytest.raises(RuntimeError, match=str(FIRST)):
        first + torch.tensor(1.0, device=SECOND)
    assert (first + second.to(FIRST)).device == FIRST
    first.copy_(second * 2)
    assert first.tolist() == [2, 2, 2]


def test_the_current_device_is_where_its_type_means() -> None:
    assert module.current_device() == 0
    with module.device(1):
        assert torch.ones(1, device=DEVICE).device == SECOND
        assert module.current_stream().device == SECOND
        with module.device_of(torch.ones(1, device=FIRST)):
            assert module.current_device() == 0
        assert torch.ones(1).to(DEVICE).device == SECOND
    assert module.current_device() == 0
    module.set_device(str(SECOND))
    assert torch.accelerator.current_device_index() == 1
    module.set_device(0)


def test_results_follow_their_operands_not_the_current_device() -> None:
    x = torch.ones(3, device=SECOND)
    assert (x * 2).device == x.device
    assert torch.randn_like(x).device == x.device
    assert x.nonzero().device == x.device


def test_memory_and_generators_are_per_device() -> None:
    before = module.memory_allocated(0)
    x = torch.ones(1000, device=SECOND)
    assert module.memory_allocated(1) == 4000
    assert module.memory_allocated(0) == before
    del x
    module.manual_seed_all(4)
    assert torch.equal(torch.randn(3, device=FIRST).cpu(), torch.randn(3, device=SECOND).cpu())
    first, second = module.get_rng_state_all()
    torch.randn(1, device=SECOND)
    assert torch.equal(module.get_rng_state(0), first)
    assert not torch.equal(module.get_rng_state(1), second)
    assert module.can_device_access_peer(0, 1)


def test_a_stream_of_another_device_makes_it_current() -> None:
    stream = module.Stream(device=1)
    with module.stream(stream):
        assert module.current_device() == 1
        assert module.current_stream() == stream
    assert module.current_device() == 0
    assert module.current_stream(1) == module.default_stream(1)
