"""One spelling for what torch takes for the same."""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
from collections.abc import Callable
from types import FunctionType
from typing import Any

import torch as installed_torch
from recording.devices import Device, of_index

_HOMES = re.compile(r"^(torch\.cuda)\.(?:memory|random|streams)\.(?!_)")
_SYNONYMS = {
    "torch.cuda._lazy_init": "torch.cuda.init",
    "transformers.utils.is_torch_bf16_gpu_available": "torch.cuda.is_bf16_supported",
}


def one_spelling(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """Spell what torch takes for the same in one way."""
    name = at_home(name)
    name = _SYNONYMS.get(name, name)
    owner, _, last = name.rpartition(".")
    if last == "cuda" and not is_of_torch(name):
        options = (
            dict(zip(("device", "non_blocking", "memory_format"), args, strict=False)) | kwargs
        )
        device = options.pop("device", None)
        where = Device("cuda" if device is None else device)
        name, args, kwargs = f"{owner}.to", (where,), options
    elif last == "to" and not is_of_torch(name) and (args or "device" in kwargs):
        kwargs = dict(kwargs)
        first = args[0] if args else kwargs.pop("device")
        args = (of_index(first), *args[1:])
    for keyword in ("device", "device_id", "map_location"):
        if keyword in kwargs:
            kwargs[keyword] = of_index(kwargs[keyword])
    if name == "torch.random.fork_rng":
        kwargs = {"device_type": "cuda", **kwargs}
    if is_of_torch(name):
        args, kwargs = _by_name(name, args, kwargs)
    if isinstance(kwargs.get("map_location"), FunctionType):
        kwargs["map_location"] = _where_to(kwargs["map_location"])
    return name, args, kwargs


def at_home(name: str) -> str:
    """Return a name of torch.cuda's submodules as torch.cuda has it, too."""
    return _HOMES.sub(r"\1.", name)


def is_of_torch(name: str) -> bool:
    """Whether this is a name of the module torch, not what a call of one gave."""
    return re.fullmatch(r"torch[\w.]*", name) is not None


@functools.cache
def _signature(name: str) -> inspect.Signature | None:
    """Return the signature of the installed torch's function, None where it tells none."""
    function: Any = installed_torch
    try:
        for part in name.split(".")[1:]:
            function = getattr(function, part)
        return inspect.signature(function)
    except (AttributeError, TypeError, ValueError):
        return None


def _by_name(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Bind arguments as the installed torch's signature does, defaults and all."""
    signature = _signature(name)
    if signature is None:
        return args, kwargs
    with contextlib.suppress(TypeError):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        named = dict(bound.arguments)
        for parameter in bound.signature.parameters.values():
            if parameter.kind is parameter.VAR_POSITIONAL and named.pop(parameter.name):
                return args, kwargs
            if parameter.kind is parameter.VAR_KEYWORD:
                named.update(named.pop(parameter.name))
        return (), named
    return args, kwargs


class _Storage:
    """What torch.load hands to a function that says where to."""

    def cuda(self, device: Any = None) -> Device:
        return Device("cuda" if device is None else device)


def _where_to(function: Callable[..., Any]) -> Any:
    """Return the device that `map_location=lambda storage, loc: storage.cuda(0)` sends to."""
    return function(_Storage(), "cuda:0")
