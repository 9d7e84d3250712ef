"""Which device is current, what it is, and when the runtime is initialized."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import Any

import torch

from ._library import _C

NAME = "Ascend910B (emulated)"


def is_initialized() -> bool:
    """Tells whether this process has used a device; False in a process forked after that."""
    return bool(_C.is_initialized())


def init() -> None:
    """Initializes the runtime, as the first use of a device does.

    Raises:
        RuntimeError: without visible devices, or in a process forked after first use.
    """
    _C.init()


def is_available() -> bool:
    """Tells whether a device is visible; initializes nothing."""
    return device_count() > 0


def device_count() -> int:
    """Counts EMULATED_NPU_DEVICES (1 if unset), cut down by ASCEND_RT_VISIBLE_DEVICES."""
    return int(_C.device_count())


def current_device() -> int:
    """Returns the current device's index."""
    _C.init()
    return int(_C.current_device())


def set_device(device: Any) -> None:
    """Makes a device current; a negative index is a no-op."""
    index = _get_device_index(device, optional=True)
    if index >= 0:
        _C.init()
        _C.set_device(index)


def synchronize(device: Any = None) -> None:
    """Returns at once, for all work is synchronous; checks the device."""
    _C.init()
    torch._C._accelerator_synchronizeDevice(_checked_index(device))


class device:
    """Context manager that makes a device current; a no-op for None and negative indices."""

    def __init__(self, device: Any) -> None:
        self.idx = -1 if device is None else _get_device_index(device, optional=True)
        self.prev_idx = -1

    def __enter__(self) -> None:
        if self.idx >= 0:
            self.prev_idx = current_device()
            _C.set_device(self.idx)

    def __exit__(self, *args: object) -> None:
        if self.idx >= 0:
            _C.set_device(self.prev_idx)


class device_of(device):
    """Context manager that makes the device of a tensor or storage current."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_npu else -1)


@dataclass(frozen=True)
class _NPUDeviceProperties:
    name: str
    total_memory: int
    cube_core_num: int = 0
    vector_core_num: int = 0
    L2_cache_size: int = 0


def get_device_name(device_name: Any = None) -> str:
    """Returns a name that says that the device is emulated."""
    _checked_index(device_name)
    return NAME


def get_device_properties(device_name: Any = None) -> _NPUDeviceProperties:
    """Returns the name and the memory; core counts are 0, since there are no cores."""
    _checked_index(device_name)
    _C.init()
    return _NPUDeviceProperties(NAME, int(_C.total_memory()))


def get_device_capability(device: Any = None) -> tuple[int, int] | None:
    """Returns None or, as torch_npu does, what TORCH_NPU_DEVICE_CAPABILITY ("8.0") says."""
    major, dot, minor = os.environ.get("TORCH_NPU_DEVICE_CAPABILITY", "").partition(".")
    if dot and major.isdecimal() and minor.isdecimal():
        return int(major), int(minor)
    warnings.warn(
        "an NPU has no CUDA capability; set TORCH_NPU_DEVICE_CAPABILITY to answer one", stacklevel=2
    )
    return None


def can_device_access_peer(device_id: Any, peer_device_id: Any) -> bool:
    """Tells whether two different devices can reach each other, which they can."""
    return _checked_index(device_id) != _checked_index(peer_device_id)


def utilization(device: Any = None) -> int:
    """Returns 0: nothing runs in the background."""
    _checked_index(device)
    return 0


def ipc_collect() -> None:
    """Does nothing: memory isn't shared between processes."""
    _C.init()


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """Resolves an int, str, torch.device, torch.npu.device or, if `optional`, None."""
    if isinstance(device, int):
        return device
    if isinstance(device, str):
        device = torch.device(device)
    if isinstance(device, torch.device):
        if allow_cpu and device.type == "cpu":
            return -1
        if device.type != "npu":
            raise ValueError(f"Expected a npu device, but got: {device}")
        device = device.index
        optional = True
        if device is not None:
            return int(device)
    if device is not None:
        return int(device.idx)
    if not optional:
        raise ValueError("Expected a torch.device with a specified index or an integer, not None")
    return int(_C.current_device())


def _checked_index(device: Any) -> int:
    index = _get_device_index(device, optional=True)
    if not 0 <= index < device_count():
        raise AssertionError(f"Invalid device id {index}: {device_count()} emulated NPU(s) visible")
    return index
