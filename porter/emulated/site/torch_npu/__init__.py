"""An emulated Ascend NPU: devices of type ``npu`` that live on the CPU.

It stands in for Huawei's torch_npu 2.13 on machines without a card, with the same names and
signatures where training code meets them. Its results say nothing about a real NPU's speed.
``porter.emulated.emulated_env`` builds the extension and puts this package on a child's path.
"""

from __future__ import annotations

import os
from typing import Any

# torch autoloads this package; importing it first must not run that a second time from within.
_AUTOLOAD = os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD", "1")
os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"

import torch
from torch.utils.checkpoint import DefaultDeviceType

from . import _extension

_C = _extension.load()

from . import distributed, npu
from ._operators import OPERATORS

__version__ = "2.13.0+emulated"

unsupported_dtype = [torch.quint8, torch.quint4x2, torch.quint2x4, torch.qint32, torch.qint8]


def _register() -> None:
    torch.utils.rename_privateuse1_backend("npu")
    torch._register_device_module("npu", npu)
    torch.utils.generate_methods_for_privateuse1_backend(unsupported_dtype=unsupported_dtype)
    distributed.register_backend()
    # Gradient checkpointing without tensor arguments asks for this one's RNG state.
    DefaultDeviceType.set_device_type("npu")


def _autoload() -> None:
    """Gives child processes the switch back; torch calls this as the package's entry point."""
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = _AUTOLOAD


def __getattr__(name: str) -> Any:
    if name in OPERATORS:
        return npu._absent.function(f"torch_npu.{name}")
    raise AttributeError(f"module 'torch_npu' (emulated) has no attribute {name!r}")


_register()
_autoload()
