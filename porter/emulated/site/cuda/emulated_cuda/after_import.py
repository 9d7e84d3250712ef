"""What can be put in place only when torch is whole."""

from __future__ import annotations

from typing import Any

import emulated_device  # type: ignore[import-not-found]
import torch
from emulated_device import legacy

from .extension import _C


def install() -> None:
    """Mends what a build of torch without CUDA refuses by itself."""
    for name, value in legacy.tensor_types("cuda").items():
        setattr(torch.cuda, name, value)
    bindings: Any = torch._C
    bindings._set_default_tensor_type = _DefaultTensorType(bindings._set_default_tensor_type)
    storage: Any = torch.UntypedStorage
    storage.__new__ = _new_storage
    storage.resize_ = _resize_storage
    emulated_device.settle_at_exit(torch.cuda.is_initialized)


class _DefaultTensorType:
    """``torch._C._set_default_tensor_type`` that knows the CUDA types."""

    def __init__(self, native: Any) -> None:
        self._native = native
        self._is_cuda = False

    def __call__(self, kind: Any) -> None:
        if isinstance(kind, legacy.TensorType):
            torch.set_default_dtype(kind.dtype)
            torch.set_default_device(kind.device_type)
        else:
            self._native(kind)
            if self._is_cuda:
                torch.set_default_device(None)
        self._is_cuda = isinstance(kind, legacy.TensorType)


def _new_storage(cls: type, *args: Any, device: Any = None, **kwargs: Any) -> Any:
    if device is None or torch.device(device).type != "cuda":
        return torch._C.StorageBase.__new__(cls, *args, device=device, **kwargs)  # type: ignore[call-arg]
    if args and not isinstance(args[0], int):
        return torch.tensor(args[0], dtype=torch.uint8, device=device).untyped_storage()
    return torch.empty(*(args or (0,)), dtype=torch.uint8, device=device).untyped_storage()


def _resize_storage(self: torch.UntypedStorage, size: int) -> torch.UntypedStorage:
    if self.device.type == "cuda":
        _C.resize_storage(self, size)
        return self
    native: Any = torch._C.StorageBase
    native.resize_(self, size)
    return self
