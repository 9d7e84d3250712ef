"""Switches of the real device: they are kept and answered, and change nothing here."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import torch

from ._devices import init

_options: dict[str, str] = {}
_modes: dict[str, Any] = {"sync_debug": 0, "task_queue": 1, "nd_format": True, "compatible": False}
_DEBUG_MODES = {"default": 0, "warn": 1, "error": 2}


class CubeMathType(IntEnum):
    """Precision of matrix units."""

    KEEP_DTYPE = 0
    ALLOW_FP32_DOWN_PRECISION = 1
    USE_FP16 = 2
    USE_HF32 = 3
    USE_FP32_ADD = 4


class _Switches:
    """Attributes that can be set and read back."""

    def __init__(self, **defaults: Any) -> None:
        self.__dict__.update(defaults)


config = _Switches(allow_internal_format=True)
matmul = _Switches(allow_hf32=False, cube_math_type=None)
conv = _Switches(allow_hf32=True)


def set_option(option: dict[str, Any]) -> None:
    """Keeps options of the CANN compiler.

    Raises:
        TypeError: if `option` isn't a dict.
    """
    if not isinstance(option, dict):
        raise TypeError("npu option must be a dict.")
    _options.update({name: str(value) for name, value in option.items()})


def set_compile_mode(jit_compile: bool = False) -> None:
    """Keeps whether operators are compiled just in time."""
    set_option({"jitCompile": "enable" if jit_compile else "disable"})


def is_jit_compile_false() -> bool:
    """Tells what `set_compile_mode` was last given; just-in-time compilation is off at first."""
    init()
    return _options.get("jitCompile", "disable") == "disable"


def set_mm_bmm_format_nd(is_nd: bool = True) -> None:
    """Keeps the weight format of matrix multiplications."""
    _modes["nd_format"] = bool(is_nd)


def get_mm_bmm_format_nd() -> bool:
    """Tells what `set_mm_bmm_format_nd` was last given; True at first."""
    return bool(_modes["nd_format"])


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """Keeps how synchronizing operations should be reported.

    Raises:
        RuntimeError: if a name isn't one of default, warn and error.
    """
    if isinstance(debug_mode, str):
        if debug_mode not in _DEBUG_MODES:
            raise RuntimeError(
                "invalid value of debug_mode, expected one of `default`, `warn`, `error`"
            )
        debug_mode = _DEBUG_MODES[debug_mode]
    _modes["sync_debug"] = debug_mode


def get_sync_debug_mode() -> int:
    """Tells what `set_sync_debug_mode` was last given; 0 at first."""
    return int(_modes["sync_debug"])


def set_task_queue_enable(mode: int | str) -> None:
    """Keeps the level of the task queue.

    Raises:
        RuntimeError: if it isn't 0, 1 or 2.
    """
    if int(mode) not in (0, 1, 2):
        raise RuntimeError(f"mode must be 0, 1, or 2, but got {mode}.")
    _modes["task_queue"] = int(mode)


def get_task_queue_enable() -> int:
    """Tells what `set_task_queue_enable` was last given; 1 at first."""
    return int(_modes["task_queue"])


def set_deterministic_level(level: int) -> None:
    """Switches torch's deterministic algorithms on for any level but 0."""
    torch.use_deterministic_algorithms(level >= 1)


def enable_deterministic_with_backward(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the tensor: the CPU's kernels are deterministic."""
    return tensor


def disable_deterministic_with_backward(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the tensor."""
    return tensor


def use_compatible_impl(is_enable: bool) -> None:
    """Keeps whether implementations compatible with CUDA's are asked for."""
    _modes["compatible"] = bool(is_enable)


def are_compatible_impl_enabled() -> bool:
    """Tells what `use_compatible_impl` was last given; False at first."""
    return bool(_modes["compatible"])


def is_bf16_supported(including_emulation: bool = False) -> bool:
    """Returns True, as on Ascend910B."""
    init()
    return True


def get_amp_supported_dtype() -> list[torch.dtype]:
    """Returns the types that autocast takes."""
    return [torch.float16, torch.bfloat16, torch.float32]


def is_autocast_enabled() -> bool:
    """Tells whether autocast is on for npu."""
    return torch.is_autocast_enabled("npu")


def set_autocast_enabled(enable: bool) -> None:
    """Switches autocast for npu."""
    torch.set_autocast_enabled("npu", enable)


def get_autocast_dtype() -> torch.dtype:
    """Returns autocast's type for npu."""
    return torch.get_autocast_dtype("npu")


def set_autocast_dtype(dtype: torch.dtype) -> None:
    """Sets autocast's type for npu."""
    torch.set_autocast_dtype("npu", dtype)
