"""`autocast` without a device type, and its decorators."""

from __future__ import annotations

import functools
from typing import Any

import torch


class autocast(torch.autocast):
    """``torch.autocast("npu", ...)`` with torch_npu's argument order."""

    def __init__(
        self,
        enabled: bool = True,
        dtype: torch.dtype = torch.float16,
        cache_enabled: bool = True,
    ) -> None:
        super().__init__("npu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


def custom_fwd(fwd: Any = None, *, cast_inputs: torch.dtype | None = None) -> Any:
    """Returns ``torch.amp.custom_fwd`` for npu."""
    return functools.partial(torch.amp.custom_fwd, device_type="npu")(fwd, cast_inputs=cast_inputs)


def custom_bwd(bwd: Any) -> Any:
    """Returns ``torch.amp.custom_bwd`` for npu."""
    return functools.partial(torch.amp.custom_bwd, device_type="npu")(bwd)
