"""What each name of the shim is on the device that was chosen."""

from __future__ import annotations

import contextlib
import functools
import itertools
import operator
import threading
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple, Union

import torch

from . import _backend, _cpu
from ._backend import Backend, warn_once
from ._names import MIRRORED, OWN, STORAGE_TYPES, TENSOR_TYPES

Maker = Callable[[Backend], Any]


def find_all() -> Dict[str, Any]:
    """Return every name that the chosen device has, with what it is there."""
    found = {}
    for name in MIRRORED | OWN:
        with contextlib.suppress(AttributeError):
            found[name] = find(name)
    return found


def find(name: str) -> Any:
    """Return what a name of MIRRORED or OWN is on the chosen device.

    Raises:
        AttributeError: This version of torch has no such name for the device.
        RuntimeError: PORTER_DEVICE asks for a device that is not here.
    """
    backend = _backend.current()
    if backend.type == "cpu":
        if name in TENSOR_TYPES or name in STORAGE_TYPES:
            return getattr(torch, name)
        if hasattr(_cpu, name):
            return getattr(_cpu, name)
    if name in _OWN:
        return _OWN[name](backend)
    if backend.type == "cuda":
        return getattr(torch.cuda, name)
    if name in _ADAPTED:
        return _ADAPTED[name](backend)
    if hasattr(backend.module, name):
        return getattr(backend.module, name)
    if name in _SUBSTITUTES:
        return _SUBSTITUTES[name](backend)
    if backend.type == "mps" and name in _OF_ONE_DEVICE:
        return getattr(_cpu, name)
    raise AttributeError(
        f"torch.{backend.type} has no {name!r} with torch {torch.__version__}, and the shim makes "
        "none up: leave the call under a test of device_type, or install a newer torch"
    )


# ---- names of torch.cuda that another device spells or answers differently ----


def _is_available(backend: Backend) -> Any:
    ask = getattr(backend.module, "is_available", torch.backends.mps.is_available)

    def is_available() -> bool:
        return bool(ask())

    # torch.compile knows torch.cuda.is_available as a constant, and torch_npu's not.
    is_available._dynamo_marked_constant = True  # type: ignore[attr-defined]
    return is_available


def _positional(name: str) -> Maker:
    """Call by position: torch_npu names its parameters `device_name` and `device_id`."""

    def make(backend: Backend) -> Any:
        ask = getattr(backend.module, name)

        def call(device: Any = None) -> Any:
            return ask(device)

        call.__name__ = name
        return call

    return make


def _can_device_access_peer(backend: Backend) -> Any:
    ask = backend.module.can_device_access_peer

    def can_device_access_peer(device: Any, peer_device: Any) -> Any:
        return ask(device, peer_device)

    return can_device_access_peer


def _is_bf16_supported(backend: Backend) -> Any:
    ask = backend.module.is_bf16_supported

    def is_bf16_supported(including_emulation: bool = True) -> Any:
        # Before 2.13 torch_npu's takes no argument; there is no emulation to include.
        return ask()

    return is_bf16_supported


def _set_rng_state(backend: Backend) -> Any:
    module = backend.module

    def set_rng_state(new_state: torch.Tensor, device: Any = backend.type) -> None:
        if new_state.numel() == module.get_rng_state(device).numel():
            module.set_rng_state(new_state, device)
        else:
            warn_once(_cpu.FOREIGN_RNG_STATE)

    return set_rng_state


def _set_rng_state_all(backend: Backend) -> Any:
    module = backend.module

    def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
        states = list(new_states)
        sizes = [state.numel() for state in module.get_rng_state_all()]
        # Fewer states than devices are the first ones', as for torch.cuda.
        if states and [state.numel() for state in states] == sizes[: len(states)]:
            module.set_rng_state_all(states)
        else:
            warn_once(_cpu.FOREIGN_RNG_STATE)

    return set_rng_state_all


def _mem_get_info(backend: Backend) -> Any:
    """Stand in for torch_npu 2.1.0, which lacks it: what this process has not reserved is free."""
    module = backend.module

    def mem_get_info(device: Any = None) -> Tuple[int, int]:
        total = module.get_device_properties(device).total_memory
        return total - module.memory_reserved(device), total

    return mem_get_info


class _Mstx:
    """torch.cuda.nvtx's functions over torch_npu's mstx, which has start and end but no stack."""

    def __init__(self, mstx: Any) -> None:
        self._mstx = mstx
        self._thread = threading.local()

    def mark(self, msg: str) -> None:
        self._mstx.mark(str(msg))

    def range_start(self, msg: str) -> Any:
        return self._mstx.range_start(str(msg))

    def range_end(self, range_id: Any) -> None:
        self._mstx.range_end(range_id)

    def range_push(self, msg: str) -> int:
        self._open.append(self.range_start(msg))
        return len(self._open) - 1

    def range_pop(self) -> int:
        if self._open:
            self.range_end(self._open.pop())
        return len(self._open)

    @contextlib.contextmanager
    def range(self, msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
        self.range_push(msg.format(*args, **kwargs))
        try:
            yield
        finally:
            self.range_pop()

    @property
    def _open(self) -> List[Any]:
        ranges: List[Any] = self._thread.__dict__.setdefault("ranges", [])
        return ranges


def _nvtx(backend: Backend) -> Any:
    mstx = getattr(backend.module, "mstx", None)
    return _cpu.nvtx if mstx is None else _Mstx(mstx)


_ADAPTED: Dict[str, Maker] = {
    "is_available": _is_available,
    "get_device_name": _positional("get_device_name"),
    "get_device_properties": _positional("get_device_properties"),
    "can_device_access_peer": _can_device_access_peer,
    "is_bf16_supported": _is_bf16_supported,
    "set_rng_state": _set_rng_state,
    "set_rng_state_all": _set_rng_state_all,
    "OutOfMemoryError": lambda backend: _cpu.OutOfMemoryError,
    "nvtx": _nvtx,
}

# Where the device's module lacks a name: torch_npu 2.1.0 lacks the first four, every torch_npu the
# fifth, torch.xpu the next four, torch.mps the last in torch 2.1.
_SUBSTITUTES: Dict[str, Maker] = {
    "mem_get_info": _mem_get_info,
    "StreamContext": lambda backend: backend.module.stream,
    "ipc_collect": lambda backend: _cpu.ipc_collect,
    "is_current_stream_capturing": lambda backend: _cpu.is_current_stream_capturing,
    "is_tf32_supported": lambda backend: _cpu.is_tf32_supported,
    "memory_cached": lambda backend: backend.module.memory_reserved,
    "max_memory_cached": lambda backend: backend.module.max_memory_reserved,
    "reset_max_memory_allocated": lambda backend: backend.module.reset_peak_memory_stats,
    "reset_max_memory_cached": lambda backend: backend.module.reset_peak_memory_stats,
    "device_count": lambda backend: lambda: int(torch.backends.mps.is_available()),
}

# torch.mps has none of these, and a machine has one such device, as it has one CPU.
_OF_ONE_DEVICE = frozenset(["current_device", "set_device", "device", "device_of"])


# ---- names that torch.cuda lacks ----

_DIST_BACKENDS = {"npu": "hccl", "cuda": "nccl", "xpu": "xccl", "mps": "gloo"}
_DEVICE_INDICES = 128  # torch.device keeps its index in eight bits with a sign
_VISIBLE_DEVICES = {"npu": "ASCEND_RT_VISIBLE_DEVICES", "xpu": "ZE_AFFINITY_MASK"}


def _torch_device(backend: Backend) -> Any:
    here = torch.device(backend.type)
    only = {"cpu": here, "mps": torch.device("mps", 0)}.get(backend.type)
    ours = ("cuda", backend.type)

    def torch_device(index: Union[int, str, torch.device, None] = None) -> torch.device:
        if index is None:
            return here
        if isinstance(index, str):
            # CUDA code writes f"cuda:{gpu}" with the text of an option as well.
            index = int(index) if index.isdigit() else torch.device(index)
        if isinstance(index, torch.device):
            if index.type not in ours:
                return index
            if index.index is None:
                return here
            index = index.index
        index = operator.index(index)
        return only or torch.device(backend.type, index)

    return torch_device


def _is_accelerator(backend: Backend) -> Any:
    ours = ("cuda", backend.type)

    def is_named(x: Any) -> bool:
        if isinstance(x, torch.nn.Module):
            x = next(itertools.chain(x.parameters(), x.buffers()), None)
        elif isinstance(x, torch.nn.utils.rnn.PackedSequence):
            x = x.data
        device = getattr(x, "device", x)
        if isinstance(device, torch.device):
            return device.type in ours
        return isinstance(device, str) and device.partition(":")[0] in ours

    # Asked for every batch: a tensor's own flags cost a thirtieth of x.device.type.
    def is_accelerator_on_cuda(x: Any) -> Any:
        try:
            return x.is_cuda
        except AttributeError:
            return is_named(x)

    def is_accelerator(x: Any) -> bool:
        try:
            return not (x.is_cpu or x.is_meta)
        except AttributeError:
            return is_named(x)

    return is_accelerator_on_cuda if backend.type == "cuda" else is_accelerator


def _dist_backend(backend: Backend) -> Any:
    # A fixed table: torch_npu 2.6 and 2.7.1 register lccl before hccl in torch's own.
    name = _DIST_BACKENDS[backend.type]
    both = name if name == "gloo" else f"cpu:gloo,{backend.type}:{name}"

    def dist_backend(cpu: bool = False) -> str:
        return both if cpu else name

    return dist_backend


def _device_ids(rank: Any) -> List[Any]:
    return [rank]


def _device_id(rank: Any) -> Any:
    return rank


def _device_map_value(backend: Backend) -> Any:
    torch_device = _torch_device(backend)

    def device_map_value(index: int) -> Union[int, str]:
        # Names are compared with devices there: `torch.device("cuda")` isn't `torch.device(0)`.
        return index if backend.type == "cuda" else str(torch_device(index))

    return device_map_value


def _map_location(backend: Backend) -> Any:
    if backend.type == "cuda":
        return None
    # A dict, since torch.load refuses a function where a tensor subclass was saved; it looks those
    # up by torch.device, and storages by text. A port may have saved on an NPU what is loaded here.
    torch_device = _torch_device(backend)
    places: Dict[Union[str, torch.device], str] = {}
    for index in ("", *(f":{i}" for i in range(_DEVICE_INDICES))):
        here = str(torch_device("cuda" + index))
        places[torch.device("cuda" + index)] = places["cuda" + index] = here
        if backend.type != "npu":
            places["npu" + index] = here
    return places


def _record_stream(t: torch.Tensor, s: Any) -> None:
    t.record_stream(s)


def _pin_memory(backend: Backend) -> Any:
    release = tuple(int(part) for part in torch.__version__.split(".")[:2])
    # Tensor.pin_memory pinned for CUDA alone before it asked for the machine's accelerator.
    needs_type = backend.type == "npu" and release < (2, 7)

    def pin_memory(t: Any) -> Any:
        if needs_type and isinstance(t, torch.Tensor):
            return t.pin_memory(backend.type)
        return t.pin_memory()

    return pin_memory


def _fork_rng(backend: Backend) -> Any:
    def fork_rng(devices: Optional[Iterable[int]] = None, enabled: bool = True) -> Any:
        return torch.random.fork_rng(devices, enabled, device_type=backend.type)

    return fork_rng


def _profiler_activities(backend: Backend) -> Any:
    def profiler_activities() -> List[Any]:
        kinds = torch.profiler.ProfilerActivity
        own = getattr(kinds, backend.type.upper(), None)  # torch_npu adds NPU from 2.12 on
        if own is None:
            warn_once(
                f"torch.profiler records the CPU alone here, not the {backend.type}: use the "
                "profiler of the device's own package for that side"
            )
            return [kinds.CPU]
        return [kinds.CPU, own]

    return profiler_activities


def _is_out_of_memory(exc: BaseException) -> bool:
    return isinstance(exc, _cpu.OutOfMemoryError) or "out of memory" in str(exc).lower()


# ---- mixed precision: torch.cuda.amp's signatures on every device ----


def _of_autocast(backend: Backend) -> str:
    """Return the device type that torch's autocast goes by; without a device it is CUDA's, off."""
    return "cuda" if backend.type == "cpu" else backend.type


def _autocast(backend: Backend) -> Any:
    device_type = _of_autocast(backend)

    def autocast(
        enabled: bool = True,
        dtype: Optional[torch.dtype] = torch.float16,
        cache_enabled: Optional[bool] = True,
    ) -> torch.autocast:
        if enabled and backend.type == "cpu":
            enabled = False
            warn_once(
                "no accelerator is available: autocast is disabled and casts nothing, as CUDA's "
                "does there. Use torch.autocast('cpu') where bfloat16 on the CPU is meant"
            )
        return torch.autocast(device_type, dtype, enabled, cache_enabled)

    return autocast


def _autocast_state(name: str, of_cuda: str) -> Maker:
    """Ask torch for the state of this kind of device; before 2.4 it answered for CUDA alone."""

    def make(backend: Backend) -> Any:
        device_type = _of_autocast(backend)
        if hasattr(torch, "get_autocast_dtype"):
            return functools.partial(getattr(torch, name), device_type)
        return getattr(torch, of_cuda) if device_type == "cuda" else getattr(backend.module, name)

    return make


class _Twin(type):
    """The type of a class that makes objects of its base, `_twin`, and counts as the same class.

    torch.cuda.amp.GradScaler warns that it is deprecated and takes no device, so the shim's can't
    be that class; but isinstance, a dict by class and a pickle have to find that class.
    """

    def __instancecheck__(cls, instance: Any) -> bool:
        return type.__instancecheck__(_twin(cls), instance)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return type.__subclasscheck__(_twin(cls), subclass)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is _twin(cls)

    def __hash__(cls) -> int:
        return type.__hash__(_twin(cls))


def _twin(cls: type) -> type:
    twin: type = vars(cls).get("_twin", cls)  # a class derived from the shim's is itself
    return twin


def _npu_scaler(base: Any) -> Any:
    """Derive a scaler from torch_npu's that also takes a state that was saved elsewhere."""

    class NpuGradScaler(base):  # type: ignore[misc]
        """torch_npu's scaler; its own keeps one more figure than torch's, and insists on it."""

        def load_state_dict(self, state_dict: Dict[str, Any]) -> None:
            """Load a state of torch_npu's, or of torch's, which doesn't say `dynamic`."""
            if state_dict:
                state_dict = {"dynamic": getattr(self, "_dynamic", True), **state_dict}
            super().load_state_dict(state_dict)

    NpuGradScaler.__qualname__ = "NpuGradScaler"
    globals()["NpuGradScaler"] = NpuGradScaler  # where a pickle looks for it
    return NpuGradScaler


def _grad_scaler(backend: Backend) -> Any:
    device_type = _of_autocast(backend)
    common: Any = getattr(torch.amp, "GradScaler", None)  # from torch 2.3 on; takes the device
    base: Any = common
    concrete: Any = None
    if device_type == "npu":
        base = backend.module.amp.GradScaler
        concrete = _npu_scaler(base)
    elif device_type == "cuda" or common is None:
        base = torch.cuda.amp.GradScaler
    if common is None or device_type == "npu":
        start = base.__init__
    else:
        # torch.cuda.amp's own __init__ adds a deprecation warning to this, and nothing else.
        start = functools.partial(common.__init__, device=device_type)

    class GradScaler(base, metaclass=_Twin):  # type: ignore[misc]
        """torch.cuda.amp.GradScaler for the device that is here; disabled on the CPU."""

        _twin = base

        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            if cls is not GradScaler:
                return super().__new__(cls)
            made: Any = object.__new__(base)
            GradScaler.__init__(made, *args, **kwargs)
            return made

        def __init__(
            self,
            init_scale: float = 2.0**16,
            growth_factor: float = 2.0,
            backoff_factor: float = 0.5,
            growth_interval: int = 2000,
            enabled: bool = True,
        ) -> None:
            if concrete is not None and type(self) is base:
                self.__class__ = concrete
            if enabled and backend.type == "cpu":
                enabled = False
                if type(self) is base:
                    self.__class__ = _cpu.IdleScaler  # type: ignore[assignment]  # a subclass
                    self.state = {
                        "scale": init_scale,
                        "growth_factor": growth_factor,
                        "backoff_factor": backoff_factor,
                        "growth_interval": growth_interval,
                        "_growth_tracker": 0,
                    }
                warn_once(
                    "no accelerator is available: GradScaler is disabled, so float16 would train "
                    "without loss scaling. Train in float32 or bfloat16 on the CPU"
                )
            # By keyword: torch_npu's fifth parameter is `dynamic`.
            start(
                self,
                init_scale=init_scale,
                growth_factor=growth_factor,
                backoff_factor=backoff_factor,
                growth_interval=growth_interval,
                enabled=enabled,
            )

    GradScaler.__module__ = __package__
    GradScaler.__qualname__ = "GradScaler"
    return GradScaler


def _custom(name: str) -> Maker:
    """Make custom_fwd or custom_bwd, bare or called."""

    def make(backend: Backend) -> Any:
        device_type = _of_autocast(backend)
        common = getattr(torch.amp, name, None)  # from torch 2.4 on
        if common is not None:
            return functools.partial(common, device_type=device_type)
        legacy = getattr(getattr(torch, device_type).amp, name)

        def custom(function: Any = None, **kwargs: Any) -> Any:
            decorate = functools.partial(legacy, **kwargs)
            return decorate if function is None else decorate(function)

        return custom

    return make


_OWN: Dict[str, Maker] = {
    "device_type": lambda backend: backend.type,
    "visible_devices_env": lambda backend: _VISIBLE_DEVICES.get(
        backend.type, "CUDA_VISIBLE_DEVICES"
    ),
    "torch_device": _torch_device,
    "is_accelerator": _is_accelerator,
    "dist_backend": _dist_backend,
    "device_ids": lambda backend: _device_ids,
    "device_id": lambda backend: _device_id,
    "device_map_value": _device_map_value,
    "map_location": _map_location,
    "pin_memory": _pin_memory,
    "record_stream": lambda backend: _record_stream,
    "fork_rng": _fork_rng,
    "profiler_activities": _profiler_activities,
    "is_out_of_memory": lambda backend: _is_out_of_memory,
    "autocast": _autocast,
    "is_autocast_enabled": _autocast_state("is_autocast_enabled", "is_autocast_enabled"),
    "get_autocast_gpu_dtype": _autocast_state("get_autocast_dtype", "get_autocast_gpu_dtype"),
    "GradScaler": _grad_scaler,
    "custom_fwd": _custom("custom_fwd"),
    "custom_bwd": _custom("custom_bwd"),
}
