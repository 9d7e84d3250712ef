"""The process group backend ``hccl``, carried by gloo."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist

from . import _C


def is_hccl_available() -> bool:
    """Tells that ``hccl`` can be asked for, as torch_npu does."""
    return True


def _process_group(options: Any, _backend_options: Any) -> Any:
    gloo = dist.ProcessGroupGloo(
        options.store, options.group_rank, options.group_size, timeout=options.timeout
    )
    return _C.process_group(gloo)


def register_backend() -> None:
    """Registers ``hccl`` as the backend of npu tensors."""
    if not dist.is_available():
        return
    dist.Backend.register_backend("hccl", _process_group, extended_api=True, devices=["npu"])
    torch.distributed.is_hccl_available = is_hccl_available  # type: ignore[attr-defined]
