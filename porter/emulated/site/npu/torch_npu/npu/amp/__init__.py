"""Mixed precision with the names and argument order of torch_npu.npu.amp."""

from __future__ import annotations

from .autocast_mode import autocast, custom_bwd, custom_fwd
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]
