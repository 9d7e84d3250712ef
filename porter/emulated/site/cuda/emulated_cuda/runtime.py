"""The names in ``torch._C`` under which torch.cuda looks for a CUDA runtime."""

from __future__ import annotations

from typing import Any

import torch

from . import comm, cudart, devices, memory, nccl, nvtx, streams

VERSION = "12.6+emulated"


def install() -> None:
    """Gives ``torch._C`` what a CUDA build of torch has there."""
    bindings: Any = torch._C
    for module in (comm, devices, memory, nccl, streams):
        for name, value in module.NAMES.items():
            setattr(bindings, name, value)
    bindings._cudart = cudart
    bindings._nvtx = nvtx
    bindings._has_cuda = True
    torch.version.cuda = VERSION
