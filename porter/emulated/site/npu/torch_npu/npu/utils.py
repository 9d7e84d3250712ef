"""Helpers that training code imports from ``torch_npu.npu.utils``."""

from __future__ import annotations

import math

import torch

from ._absent import stand_in
from ._devices import (
    _get_device_index,
    current_device,
    device,
    device_of,
    ipc_collect,
    set_device,
    synchronize,
)
from .settings import is_bf16_supported
from .streams import (
    StreamContext,
    current_stream,
    default_stream,
    set_stream,
    stream,
)

get_cann_version = stand_in("torch_npu.npu.utils.get_cann_version")
get_soc_version = stand_in("torch_npu.npu.utils.get_soc_version")


def is_support_inf_nan() -> bool:
    """Returns True, as on Ascend910B: overflow shows as inf or nan."""
    return True


def npu_check_overflow(grad: float | torch.Tensor) -> bool:
    """Tells whether a number, or the sum of a tensor, is inf or nan."""
    return not math.isfinite(float(grad.float().sum() if isinstance(grad, torch.Tensor) else grad))


__all__ = [
    "StreamContext",
    "_get_device_index",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_of",
    "get_cann_version",
    "get_soc_version",
    "ipc_collect",
    "is_bf16_supported",
    "is_support_inf_nan",
    "npu_check_overflow",
    "set_device",
    "set_stream",
    "stream",
    "synchronize",
]
