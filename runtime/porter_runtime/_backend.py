"""Which kind of device this process computes on: chosen once, without starting the device."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import logging
import os
import sys
import threading
import warnings
from typing import Any, NamedTuple, Optional, Set

import torch

VARIABLE = "PORTER_DEVICE"
_CHOICES = ("auto", "npu", "cuda", "xpu", "mps", "cpu")

# xpu and mps only when forced: where they are, CUDA code ran on the CPU until now.
_AUTO = ("npu", "cuda")

_log = logging.getLogger(__package__)
_lock = threading.RLock()
_chosen: Optional[Backend] = None
_said: Set[str] = set()


class Backend(NamedTuple):
    """A kind of device and the torch module that drives it (`torch.npu` for "npu")."""

    type: str
    module: Any


class BackendUnavailable(RuntimeError):
    """The device that PORTER_DEVICE asks for is not here, or is no device that the shim knows."""


def current() -> Backend:
    """Choose the backend at the first call and return the same one from then on.

    Only counts devices: creates no context, and leaves CUDA_VISIBLE_DEVICES open to later writes
    as far as torch can count without the driver (through NVML).

    Raises:
        BackendUnavailable: PORTER_DEVICE holds an unknown word, or forces a device that isn't here.
    """
    global _chosen
    if _chosen is None:
        with _lock:
            if _chosen is None:
                _chosen = _choose(os.environ.get(VARIABLE, "").strip().lower() or "auto")
    return _chosen


def forget() -> None:
    """Make the next call of `current` choose again, and say once-only warnings again."""
    global _chosen
    with _lock:
        _chosen = None
        _said.clear()


def warn_once(message: str) -> None:
    """Warn of something once per process."""
    if message not in _said:
        _said.add(message)
        warnings.warn(message, stacklevel=3)


# What torch.compiler.assume_constant_result sets, without its import of dynamo: the warning is said
# while a graph is traced, and does not break it.
warn_once._dynamo_marked_constant = True  # type: ignore[attr-defined]


def _choose(wanted: str) -> Backend:
    if wanted not in _CHOICES:
        raise BackendUnavailable(
            f"{VARIABLE}={wanted!r} is not known: unset it, or set it to one of "
            + ", ".join(_CHOICES)
        )
    for device_type in _AUTO if wanted == "auto" else (wanted,):
        if device_type == "cpu":
            break
        try:
            backend = Backend(device_type, _module(device_type))
            count = _count(backend)
        except Exception as error:  # a broken driver or plugin raises whatever it likes
            if wanted != "auto":
                raise BackendUnavailable(
                    f"{VARIABLE}={wanted}, but {wanted} could not be started: {error!r}. "
                    f"Mend that, or set {VARIABLE} to auto or cpu"
                ) from error
            warnings.warn(
                f"{device_type} is installed but could not be started, so it is not used: "
                f"{error!r}. Set {VARIABLE}={device_type} to make this an error",
                RuntimeWarning,
                stacklevel=2,
            )
            continue
        if count > 0:
            _log.info("using %s (%d visible), torch %s", device_type, count, torch.__version__)
            return backend
        if wanted != "auto":
            raise BackendUnavailable(f"{VARIABLE}={wanted}, but {_why_none(wanted)}")
    _log.info(
        "using cpu, torch %s: memory figures are 0, autocast and GradScaler are disabled",
        torch.__version__,
    )
    return Backend("cpu", torch.cpu)


def _module(device_type: str) -> Any:
    """Return torch's module for a device type; None where this torch has none."""
    if device_type == "npu" and _has_torch_npu():
        # torch 2.1 to 2.4 have no autoload: nothing else imports it for us.
        importlib.import_module("torch_npu")
    return getattr(torch, device_type, None)


def _has_torch_npu() -> bool:
    return "torch_npu" in sys.modules or importlib.util.find_spec("torch_npu") is not None


def _count(backend: Backend) -> int:
    if backend.module is None:
        return 0
    if backend.type == "mps":
        return int(torch.backends.mps.is_available())
    if backend.type == "cuda":
        _check_cuda_driver()
    count = backend.module.device_count
    # torch 2.1, torch_npu 2.1 and torch.xpu cache the first answer: ask underneath the cache, so
    # that a write to the visible devices still counts afterwards.
    return int(getattr(count, "__wrapped__", count)())


def _check_cuda_driver() -> None:
    """Raise where the driver is too old for this torch: its devices are counted all the same.

    torch.cuda.is_available() would tell, and would start the driver; the version is what can be
    asked before that. A driver runs what is built for its own major version of CUDA or an older one
    (CUDA's minor version compatibility).
    """
    built, version = torch.version.cuda, ctypes.c_int()
    if built is None:
        return
    try:
        failed = ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version))
    except (OSError, AttributeError):
        return
    if not failed and version.value // 1000 < int(built.partition(".")[0]):
        raise RuntimeError(
            f"the driver runs CUDA {version.value // 1000}.{version.value % 1000 // 10} at most, "
            f"and torch {torch.__version__} is built for CUDA {built}: update the driver, or "
            "install a torch that is built for it"
        )


def _why_none(device_type: str) -> str:
    if device_type == "npu" and not _has_torch_npu():
        return "torch_npu is not installed. Install the torch_npu that is built for your torch"
    if device_type == "cuda" and torch.version.cuda is None and torch.version.hip is None:
        return f"torch {torch.__version__} is built without CUDA. Install a CUDA build of torch"
    return (
        f"torch {torch.__version__} sees no {device_type} device. "
        "Check the driver and the variable that hides devices"
    )
