"""Which device is current, what it is, and when the runtime is initialized."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from .extension import _C

NAME = "CUDA device (emulated)"


@dataclass(frozen=True)
class DeviceProperties:
    """What is known of an emulated device; the capability is that of the A100."""

    name: str
    total_memory: int
    major: int = 8
    minor: int = 0
    multi_processor_count: int = 1
    is_integrated: int = 0
    is_multi_gpu_board: int = 0
    max_threads_per_multi_processor: int = 2048
    warp_size: int = 32
    L2_cache_size: int = 0
    uuid: str = "emulated"


def _properties(_index: int) -> DeviceProperties:
    return DeviceProperties(NAME, int(_C.total_memory()))


def _init() -> None:
    _C.init()
    cuda: Any = torch.cuda
    cuda.default_generators = tuple(_C.default_generator(i) for i in range(_C.device_count()))
    cuda._get_device_properties = _properties


def _current() -> int:
    torch.cuda._lazy_init()  # type: ignore[no-untyped-call]
    return int(_C.current_device())


def _set(device: int) -> None:
    torch.cuda._lazy_init()  # type: ignore[no-untyped-call]
    _C.set_device(device)


def _exchange(device: int) -> int:
    if device < 0:
        return -1
    previous = _current()
    _C.set_device(device)
    return previous


def _synchronize() -> None:
    torch._C._accelerator_synchronizeDevice(_current())


_sync_debug_mode = 0


def _set_sync_debug_mode(mode: int) -> None:
    global _sync_debug_mode
    _sync_debug_mode = mode


NAMES: dict[str, Any] = {
    "_CudaDeviceProperties": DeviceProperties,
    "_cuda_init": _init,
    "_cuda_isInBadFork": _C.is_in_bad_fork,
    "_cuda_getDeviceCount": _C.device_count,
    "_cuda_getDevice": _current,
    "_cuda_setDevice": _set,
    "_cuda_exchangeDevice": _exchange,
    "_cuda_maybeExchangeDevice": _exchange,
    "_cuda_synchronize": _synchronize,
    "_cuda_canDeviceAccessPeer": lambda device, peer: device != peer,
    "_cuda_getArchFlags": lambda: "sm_80",
    "_cuda_ipc_collect": lambda: None,
    "_cuda_set_sync_debug_mode": _set_sync_debug_mode,
    "_cuda_get_sync_debug_mode": lambda: _sync_debug_mode,
}
