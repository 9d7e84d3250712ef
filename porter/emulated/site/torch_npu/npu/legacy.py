"""The old tensor and storage types, ``torch.npu.FloatTensor`` and the like."""

from __future__ import annotations

from typing import Any

import torch

_DTYPES = {
    "Bool": torch.bool,
    "Byte": torch.uint8,
    "Char": torch.int8,
    "Short": torch.int16,
    "Int": torch.int32,
    "Long": torch.int64,
    "Half": torch.float16,
    "BFloat16": torch.bfloat16,
    "Float": torch.float32,
    "Double": torch.float64,
}


class _TensorType(type):
    """Types whose instances are torch.Tensors of one dtype on npu."""

    dtype: torch.dtype
    is_npu = True

    def __instancecheck__(cls, instance: object) -> bool:
        return (
            isinstance(instance, torch.Tensor)
            and instance.device.type == "npu"
            and instance.dtype == cls.dtype
        )

    def __call__(cls, *args: Any, device: Any = "npu") -> torch.Tensor:
        """Makes a tensor of sizes, or of a sequence, as the CPU's legacy types do."""
        if args and all(isinstance(size, int) for size in args):
            return torch.empty(args, dtype=cls.dtype, device=device)
        if len(args) == 1 and isinstance(args[0], torch.Size):
            return torch.empty(args[0], dtype=cls.dtype, device=device)
        return torch.tensor(args[0] if args else [], dtype=cls.dtype, device=device)


class _StorageType(type):
    """Types whose instances are torch.TypedStorages of one dtype on npu."""

    dtype: torch.dtype

    def __instancecheck__(cls, instance: object) -> bool:
        return (
            isinstance(instance, torch.TypedStorage)
            and instance.device.type == "npu"
            and instance.dtype == cls.dtype
        )

    def __call__(cls, *args: Any) -> torch.TypedStorage:
        """Makes a storage of a number of elements, or of a sequence."""
        return torch.TypedStorage(  # type: ignore[no-untyped-call]
            *args, dtype=cls.dtype, device="npu"
        )


TENSORS = {
    f"{name}Tensor": _TensorType(f"{name}Tensor", (), {"dtype": dtype})
    for name, dtype in _DTYPES.items()
}
STORAGES = {
    f"{name}Storage": _StorageType(f"{name}Storage", (), {"dtype": dtype})
    for name, dtype in _DTYPES.items()
}
