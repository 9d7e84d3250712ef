"""Memory statistics and the limit, counted over host memory."""

from __future__ import annotations

from typing import Any

import torch

from .extension import _C


def _fraction(device: int) -> float:
    return float(_C.memory_limit(device)) / float(_C.total_memory())


def _set_fraction(fraction: float, device: int) -> None:
    _C.set_memory_limit(device, int(_C.total_memory() * fraction))


NAMES: dict[str, Any] = {
    "_cuda_memoryStats": torch._C._accelerator_getDeviceStats,
    "_cuda_resetAccumulatedMemoryStats": torch._C._accelerator_resetAccumulatedStats,
    "_cuda_resetPeakMemoryStats": torch._C._accelerator_resetPeakStats,
    "_cuda_emptyCache": torch._C._accelerator_emptyCache,
    "_cuda_getMemoryFraction": _fraction,
    "_cuda_setMemoryFraction": _set_fraction,
    "_cuda_getAllocatorBackend": lambda: "native",
    "_host_emptyCache": lambda: None,
}
