"""Random number generators of the devices. Seeding one doesn't initialize the runtime."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from ._devices import _get_device_index, device_count, init
from ._library import _C

__all__ = [
    "get_rng_state",
    "get_rng_state_all",
    "initial_seed",
    "manual_seed",
    "manual_seed_all",
    "seed",
    "seed_all",
    "set_rng_state",
    "set_rng_state_all",
]


def get_rng_state(device: int | str | torch.device = "npu") -> torch.Tensor:
    """Returns the state of a device's generator as a CPU ByteTensor."""
    init()
    return _generator(device).get_state()


def set_rng_state(new_state: torch.Tensor, device: int | str | torch.device = "npu") -> None:
    """Sets the state of a device's generator."""
    _generator(device).set_state(new_state)


def get_rng_state_all() -> list[torch.Tensor]:
    """Returns the states of all devices' generators."""
    return [get_rng_state(index) for index in range(device_count())]


def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
    """Sets the states of the first devices' generators."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


def manual_seed(seed: int) -> None:
    """Seeds the current device's generator; silently nothing without devices."""
    if device_count() > 0:
        _generator("npu").manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seeds all devices' generators."""
    for index in range(device_count()):
        _generator(index).manual_seed(int(seed))


def seed() -> None:
    """Seeds the current device's generator at random; silently nothing without devices."""
    if device_count() > 0:
        _generator("npu").seed()


def seed_all() -> None:
    """Seeds all devices' generators with one random number."""
    if device_count() > 0:
        manual_seed_all(_generator(0).seed())


def initial_seed() -> int:
    """Returns the current device's seed."""
    init()
    return _generator("npu").initial_seed()


def _generator(device: int | str | torch.device) -> torch.Generator:
    generator: torch.Generator = _C.default_generator(_get_device_index(device, optional=True))
    return generator
