"""``torch.npu``: the names of torch_npu.npu 2.13, on emulated devices."""

from __future__ import annotations

from typing import Any

import torch

from .. import _C
from . import _absent, amp, legacy, memory, random, streams, utils
from . import utils as _utils
from ._devices import (
    _get_device_index,
    can_device_access_peer,
    current_device,
    device,
    device_count,
    device_of,
    get_device_capability,
    get_device_name,
    get_device_properties,
    init,
    ipc_collect,
    is_available,
    is_initialized,
    set_device,
    synchronize,
    utilization,
)
from .memory import *
from .memory import mem_get_info
from .mstx import mstx
from .random import *
from .settings import *
from .streams import *

OutOfMemoryError = torch.OutOfMemoryError
_lazy_init = init


def _is_in_bad_fork() -> bool:
    return bool(_C.is_in_bad_fork())


def __getattr__(name: str) -> Any:
    if name == "default_generators":
        return tuple(random._generator(index) for index in range(device_count()))
    for table in (legacy.TENSORS, legacy.STORAGES):
        if name in table:
            return table[name]
    if name in _absent.NAMES:
        return _absent.function(f"torch.npu.{name}")
    raise AttributeError(f"module 'torch_npu.npu' (emulated) has no attribute {name!r}")
