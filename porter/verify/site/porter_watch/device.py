"""What the device and the process group of a training process say of themselves."""

from __future__ import annotations

import sys
from typing import Any, Dict, Optional

import torch


def describe_device(device: Optional[torch.device]) -> Dict[str, Any]:
    """Return name, peak of memory, and whether its own random numbers were used.

    Asked after a step on the device: it is initialised by then.
    """
    known: Dict[str, Any] = {"device": None if device is None else str(device)}
    known["peak_host_memory"] = _peak_host_memory()
    module: Any = None if device is None else getattr(torch, device.type, None)
    if device is None or device.type in ("cpu", "meta") or module is None:
        return known
    index = device.index if device.index is not None else module.current_device()
    known["device_name"] = str(module.get_device_name(index))
    known["peak_memory"] = int(module.max_memory_allocated(index))
    known["drew_on_device"] = _drew(module, device.type, index)
    return known


def process_group() -> Dict[str, Any]:
    """Return rank, size and backend of the default process group; nothing without one."""
    dist: Any = torch.distributed
    if not dist.is_available() or not dist.is_initialized():
        return {}
    return {
        "rank": dist.get_rank(),
        "world_size": dist.get_world_size(),
        "process_group": str(dist.get_backend()),
    }


def _drew(module: Any, device_type: str, index: int) -> Optional[bool]:
    """Tell whether a device's generator is elsewhere than where its seed puts it."""
    generators = getattr(module, "default_generators", None)
    if not generators:
        return None
    generator = generators[index]
    fresh = torch.Generator(device=torch.device(device_type, index))
    fresh.manual_seed(generator.initial_seed())
    return not torch.equal(generator.get_state(), fresh.get_state())


def _peak_host_memory() -> Optional[int]:
    try:
        import resource
    except ImportError:  # Windows
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
