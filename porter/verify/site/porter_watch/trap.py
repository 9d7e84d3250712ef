"""Records what the user's code still asks of torch.cuda where there is no CUDA.

Much of torch.cuda does nothing there, quietly: `empty_cache`, `manual_seed_all`, a GradScaler. And
what asks `is_available` goes on without an accelerator. All of it is written down with its place.
"""

from __future__ import annotations

import functools
import sys
import threading
import types
from typing import Any, Callable, Optional, Set, Tuple

import torch

from .frames import Owners
from .journal import Journal

_ASKED = frozenset(["torch.cuda.is_available", "torch.cuda.device_count"])
_DEVICE = "device 'cuda'"
_MODULES: Tuple[str, ...] = ("torch.cuda", "torch.cuda.amp", "torch.cuda.nvtx", "torch.cuda.memory")
_MODULES += ("torch.cuda.random", "torch.cuda.streams", "torch.cuda.graphs", "torch.cuda.profiler")


class Trap:
    """Writes each place and name once for each process."""

    def __init__(self, journal: Journal, owners: Owners) -> None:
        self._journal = journal
        self._owners = owners
        self._seen: Set[Tuple[str, int, str]] = set()
        self._record = journal.guarded(self._note)
        self._inside = threading.local()  # what a recorded call does in its turn is no other use

    def _note(self, name: str) -> None:
        place = self._owners.place(through_torch=name == _DEVICE)
        if place is None or (*place, name) in self._seen:
            return
        self._seen.add((*place, name))
        kind = "asked" if name in _ASKED else "cuda"
        self._journal.write("trap", use=kind, path=place[0], line=place[1], name=name)

    def install(self) -> None:
        """Wrap what torch offers for CUDA. Objects that torch itself has imported stay."""
        for module in filter(None, map(sys.modules.get, _MODULES)):
            for key, value in list(vars(module).items()):
                if _is_function_of_torch(value) and not key.startswith("_"):
                    owner = "torch.cuda" if value.__module__ == "torch.cuda" else module.__name__
                    setattr(module, key, self._wrapped(value, f"{owner}.{key}"))
        for kind in (torch.Tensor, torch.nn.Module, torch.UntypedStorage, torch.TypedStorage):
            name = f"torch.{'nn.' if kind is torch.nn.Module else ''}{kind.__name__}.cuda"
            self._wrap(kind, "cuda", name)
        # torch calls this one, in the caller's frame, whenever it is told to use a CUDA device.
        self._wrap(torch.cuda, "_lazy_init", _DEVICE)
        self._wrap(torch, "load", "torch.load(map_location='cuda')", _of_load)
        self._wrap(torch, "set_default_device", "torch.set_default_device('cuda')", _of_first)
        if torch.distributed.is_available():
            name = "torch.distributed.init_process_group('nccl')"
            self._wrap(torch.distributed, "init_process_group", name, _of_process_group)
        self._wrap_classes()

    def _wrap_classes(self) -> None:
        # Their constructors alone: the classes stay the ones that isinstance knows.
        for kind in (torch.cuda.amp.autocast, torch.cuda.amp.GradScaler):
            self._wrap(kind, "__init__", f"torch.cuda.amp.{kind.__name__}")
        for name in ("device", "Stream", "Event", "CUDAGraph", "StreamContext"):
            found = getattr(torch.cuda, name)
            if "__init__" in vars(found):
                self._wrap(found, "__init__", f"torch.cuda.{name}")
        self._wrap(torch.autocast, "__init__", "torch.autocast('cuda')", _of_self)
        scaler: Any = getattr(torch.amp, "GradScaler", None)  # torch 2.1 and 2.2 have CUDA's alone
        if scaler is not None:
            self._wrap(scaler, "__init__", "torch.amp.GradScaler('cuda')", _of_self)

    def _wrap(
        self, owner: Any, key: str, name: str, applies: Optional[Callable[..., bool]] = None
    ) -> None:
        setattr(owner, key, self._wrapped(getattr(owner, key), name, applies))

    def _wrapped(
        self, function: Any, name: str, applies: Optional[Callable[..., bool]] = None
    ) -> Any:
        record, inside = self._record, self._inside

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if inside.__dict__.get("of_one") or not (applies is None or applies(*args, **kwargs)):
                return function(*args, **kwargs)
            record(name)
            inside.of_one = True
            try:
                return function(*args, **kwargs)
            finally:
                inside.of_one = False

        # torch.compile asks when it traces, and takes the answer for a constant.
        wrapper._dynamo_marked_constant = True  # type: ignore[attr-defined]
        return wrapper


def _is_function_of_torch(value: Any) -> bool:
    # torch 2.1 keeps the answer of device_count in a cache.
    kinds = (types.FunctionType, functools._lru_cache_wrapper)
    return isinstance(value, kinds) and value.__module__.startswith("torch.")


def _is_cuda(device: Any) -> bool:
    return isinstance(device, (str, torch.device)) and str(device).partition(":")[0] == "cuda"


def _of_first(device: Any = None, *args: Any, **kwargs: Any) -> bool:
    return _is_cuda(device)


def _of_self(self: Any, *args: Any, **kwargs: Any) -> bool:
    device = args[0] if args else kwargs.get("device_type", kwargs.get("device", "cuda"))
    return _is_cuda(device)


def _of_load(f: Any = None, map_location: Any = None, *args: Any, **kwargs: Any) -> bool:
    return _is_cuda(map_location)


def _of_process_group(backend: Any = None, *args: Any, **kwargs: Any) -> bool:
    return "nccl" in str(backend).lower()
