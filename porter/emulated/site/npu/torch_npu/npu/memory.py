"""Memory statistics and the limit, counted over host memory."""

from __future__ import annotations

from typing import Any

import torch

from ._devices import _get_device_index, init
from ._library import _C


def get_per_process_memory_fraction(device: Any = None) -> float:
    """Returns the share of a device's memory that this process may take."""
    init()
    index = _get_device_index(device, optional=True)
    return float(_C.memory_limit(index)) / float(_C.total_memory())


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Limits this process to a share (0 to 1) of a device's memory.

    Raises:
        TypeError: if `fraction` isn't a float.
        ValueError: if it is out of range.
    """
    init()
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    _C.set_memory_limit(_get_device_index(device, optional=True), int(_C.total_memory() * fraction))


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Returns the free and total bytes of a device."""
    init()
    return torch.accelerator.get_memory_info(_get_device_index(device, optional=True))


def empty_cache() -> None:
    """Gives unused reserved memory back; initializes nothing."""
    torch.accelerator.empty_cache()


def host_empty_cache() -> None:
    """Does nothing: pinned memory isn't cached."""


def memory_stats(device: Any = None) -> dict[str, Any]:
    """Returns a device's statistics; empty before first use."""
    if not _C.is_initialized():
        return {}
    return torch.accelerator.memory_stats(_get_device_index(device, optional=True))


def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
    """Returns the statistics of `memory_stats` as nested dictionaries."""
    nested: dict[str, Any] = {}
    for path, value in memory_stats(device).items():
        *groups, leaf = path.split(".")
        inner = nested
        for group in groups:
            inner = inner.setdefault(group, {})
        inner[leaf] = value
    return nested


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Resets the sums of allocated and freed memory."""
    init()
    torch.accelerator.reset_accumulated_memory_stats(_get_device_index(device, optional=True))


def reset_peak_memory_stats(device: Any = None) -> None:
    """Resets the peaks to the current figures."""
    init()
    torch.accelerator.reset_peak_memory_stats(_get_device_index(device, optional=True))


def reset_max_memory_allocated(device: Any = None) -> None:
    """Resets all peaks, as `reset_peak_memory_stats`."""
    reset_peak_memory_stats(device)


def reset_max_memory_cached(device: Any = None) -> None:
    """Resets all peaks, as `reset_peak_memory_stats`."""
    reset_peak_memory_stats(device)


def memory_allocated(device: Any = None) -> int:
    """Returns the bytes that tensors hold on a device."""
    return int(memory_stats(device).get("allocated_bytes.all.current", 0))


def max_memory_allocated(device: Any = None) -> int:
    """Returns the peak of `memory_allocated`."""
    return int(memory_stats(device).get("allocated_bytes.all.peak", 0))


def memory_reserved(device: Any = None) -> int:
    """Returns the bytes that the allocator holds on a device."""
    return int(memory_stats(device).get("reserved_bytes.all.current", 0))


def max_memory_reserved(device: Any = None) -> int:
    """Returns the peak of `memory_reserved`."""
    return int(memory_stats(device).get("reserved_bytes.all.peak", 0))


def memory_cached(device: Any = None) -> int:
    """Returns `memory_reserved`, under its old name."""
    return memory_reserved(device)


def max_memory_cached(device: Any = None) -> int:
    """Returns `max_memory_reserved`, under its old name."""
    return max_memory_reserved(device)


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """Returns the main figures as text."""
    return "\n".join(
        [
            f"NPU {_get_device_index(device, optional=True)} (emulated)",
            f"allocated {memory_allocated(device)} bytes, peak {max_memory_allocated(device)}",
            f"reserved {memory_reserved(device)} bytes, peak {max_memory_reserved(device)}",
        ]
    )


def get_allocator_backend() -> str:
    """Returns "native", the name of torch_npu's own allocator."""
    return "native"
