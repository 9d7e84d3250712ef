"""The old tensor and storage types, ``torch.cuda.FloatTensor`` and the like."""

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


class TensorType(type):
    """Types whose instances are torch.Tensors of one dtype on one type of device."""

    dtype: torch.dtype
    device_type: str

    def __instancecheck__(cls, instance: object) -> bool:
        return (
            isinstance(instance, torch.Tensor)
            and instance.device.type == cls.device_type
            and instance.dtype == cls.dtype
        )

    def __call__(cls, *args: Any, device: Any = None) -> torch.Tensor:
        """Makes a tensor of sizes, or of a sequence, as the CPU's legacy types do."""
        device = device or cls.device_type
        if args and all(isinstance(size, int) for size in args):
            return torch.empty(args, dtype=cls.dtype, device=device)
        if len(args) == 1 and isinstance(args[0], torch.Size):
            return torch.empty(args[0], dtype=cls.dtype, device=device)
        return torch.tensor(args[0] if args else [], dtype=cls.dtype, device=device)


class _StorageType(type):
    """Types whose instances are torch.TypedStorages of one dtype on one type of device."""

    dtype: torch.dtype
    device_type: str

    def __instancecheck__(cls, instance: object) -> bool:
        return (
            isinstance(instance, torch.TypedStorage)
            and instance.device.type == cls.device_type
            and instance.dtype == cls.dtype
        )

    def __call__(cls, *args: Any) -> torch.TypedStorage:
        """Makes a storage of a number of elements, or of a sequence."""
        return torch.TypedStorage(  # type: ignore[no-untyped-call]
            *args, dtype=cls.dtype, device=cls.device_type
        )


def tensor_types(device_type: str) -> dict[str, type]:
    """Returns the tensor types of a device type by name."""
    # The full name, because Tensor.type() takes a type by the name that it carries.
    return {
        f"{name}Tensor": TensorType(
            f"torch.{device_type}.{name}Tensor",
            (),
            {"dtype": dtype, "device_type": device_type, f"is_{device_type}": True},
        )
        for name, dtype in _DTYPES.items()
    }


def storage_types(device_type: str) -> dict[str, type]:
    """Returns the storage types of a device type by name."""
    return {
        f"{name}Storage": _StorageType(
            f"{name}Storage", (), {"dtype": dtype, "device_type": device_type}
        )
        for name, dtype in _DTYPES.items()
    }
