"""The CUDA runtime's functions, as ``torch.cuda.cudart()`` gives them."""

from __future__ import annotations

from enum import IntEnum

import torch


class cudaError(IntEnum):
    """The only result there is."""

    success = 0


def cudaGetErrorString(error: cudaError) -> str:
    """Returns the name of a result."""
    return error.name


def cudaProfilerStart() -> cudaError:
    """Does nothing: there is no device-side profiler."""
    return cudaError.success


def cudaProfilerStop() -> cudaError:
    """Does nothing."""
    return cudaError.success


def cudaMemGetInfo(device: int) -> tuple[int, int]:
    """Returns the free and total bytes of a device."""
    return torch._C._accelerator_getMemoryInfo(device)
