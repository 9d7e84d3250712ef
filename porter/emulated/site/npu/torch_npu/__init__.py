"""An emulated Ascend NPU: devices of type ``npu`` that live on the CPU.

It stands in for Huawei's torch_npu 2.13 on machines without a card, with the same names and
signatures where training code meets them. Its results say nothing about a real NPU's speed.
``porter.emulated.emulated_env`` builds the extension and puts this package on a child's path.
"""

from __future__ import annotations

# ruff: noqa: E402 - see _autoload
from typing import Any


def _autoload() -> None:
    """Does nothing: importing the package has registered the device.

    torch calls this as the package's entry point. It must be there before ``import torch`` below,
    which calls it when this package is imported first.
    """


import emulated_device  # type: ignore[import-not-found]
import torch
from torch.utils import backend_registration
from torch.utils.checkpoint import DefaultDeviceType

_C = emulated_device.load_extension(__name__)

from . import distributed, npu
from ._operators import OPERATORS

__version__ = "2.13.0+emulated"

unsupported_dtype = [torch.quint8, torch.quint4x2, torch.quint2x4, torch.qint32, torch.qint8]


def _register() -> None:
    backend_registration.rename_privateuse1_backend("npu")
    torch._register_device_module("npu", npu)  # type: ignore[no-untyped-call]
    backend_registration.generate_methods_for_privateuse1_backend(
        unsupported_dtype=unsupported_dtype
    )
    distributed.register_backend()
    # Gradient checkpointing without tensor arguments asks for this one's RNG state.
    DefaultDeviceType.set_device_type("npu")


def __getattr__(name: str) -> Any:
    if name in OPERATORS:
        return npu._absent.stand_in(f"torch_npu.{name}")
    raise AttributeError(f"module 'torch_npu' (emulated) has no attribute {name!r}")


_register()
emulated_device.settle_at_exit(npu.is_initialized)
