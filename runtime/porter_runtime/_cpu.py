"""What torch.cuda's names mean where there is no accelerator.

Where torch.cuda answers on a machine without CUDA the answer is the same here; where it raises, the
call does its job on the CPU. So `device_count` is 0, as torch.cuda says: ported code writes
`max(1, accel.device_count())` where it divides by the count or starts that many processes.

Names that take the same and answer the same share a function. All of them can be traced by
torch.compile, but for the clock of a timing Event and for mem_get_info.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import OrderedDict
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Tuple, Union

import torch

from ._backend import warn_once

Device = Union[torch.device, str, int, None]


def _no() -> bool:
    return False


def _nothing() -> None:
    pass


def _nothing_of(device: Device = None) -> None:
    pass


def _zero() -> int:
    return 0


def _zero_of(device: Device = None) -> int:
    return 0


# ---- one device, always there, nothing to start ----

is_available = is_initialized = is_tf32_supported = is_current_stream_capturing = _no
device_count = current_device = get_sync_debug_mode = _zero
init = _nothing
synchronize = _nothing_of
utilization = _zero_of


def is_bf16_supported(including_emulation: bool = True) -> bool:
    return False


def can_device_access_peer(device: Device, peer_device: Device) -> bool:
    return False


def set_device(device: Device) -> None:
    pass


def set_sync_debug_mode(debug_mode: Union[int, str]) -> None:
    pass


def get_device_name(device: Device = None) -> str:
    return "cpu"


def get_device_capability(device: Device = None) -> None:
    """Answer None, as torch_npu does: a capability is NVIDIA's, and is never made up."""


class DeviceProperties(NamedTuple):
    """What is known of the CPU; any other field of CUDA's properties raises AttributeError."""

    name: str
    total_memory: int


def get_device_properties(device: Device = None) -> DeviceProperties:
    """Return the CPU's name and the machine's memory in bytes.

    Raises:
        NotImplementedError: The platform doesn't tell its memory.
    """
    if _properties is None:
        raise NotImplementedError(_NO_MEMORY_FIGURES)
    return _properties


class device:
    """Context manager that selects nothing: there is one CPU. Takes None and -1 as well."""

    def __init__(self, device: Any) -> None:
        self.idx = 0
        self.prev_idx = 0

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc_info: object) -> None:
        pass


class device_of(device):
    """Context manager that selects nothing."""

    def __init__(self, obj: Any) -> None:
        super().__init__(None)


# ---- memory: torch keeps no figures for the CPU ----

_binding: Any = torch._C

# torch.OutOfMemoryError from 2.5 on; before that torch.cuda's, which transfer_to_npu hides. It is
# every device's class, and the CPU never raises it.
OutOfMemoryError: Any = getattr(torch, "OutOfMemoryError", None) or _binding._OutOfMemoryError


empty_cache = ipc_collect = _nothing
reset_peak_memory_stats = reset_accumulated_memory_stats = _nothing_of
reset_max_memory_allocated = reset_max_memory_cached = _nothing_of

memory_allocated = max_memory_allocated = memory_reserved = max_memory_reserved = _zero_of
memory_cached = max_memory_cached = _zero_of


def memory_stats(device: Device = None) -> Dict[str, Any]:
    return OrderedDict()


def memory_stats_as_nested_dict(device: Device = None) -> Dict[str, Any]:
    return {}


def memory_summary(device: Device = None, abbreviated: bool = False) -> str:
    return ""


def memory_snapshot(mempool_id: Any = None, include_traces: bool = True) -> List[Any]:
    return []


def get_per_process_memory_fraction(device: Device = None) -> float:
    return 1.0


def set_per_process_memory_fraction(fraction: float, device: Device = None) -> None:
    pass


def mem_get_info(device: Device = None) -> Tuple[int, int]:
    """Return the machine's free and total memory in bytes, which is where CPU tensors live.

    Raises:
        NotImplementedError: The platform doesn't tell its memory.
    """
    free, total = _memory("SC_AVPHYS_PAGES"), _memory("SC_PHYS_PAGES")
    if free is None or total is None:
        raise NotImplementedError(_NO_MEMORY_FIGURES)
    return free, total


_NO_MEMORY_FIGURES = "this platform doesn't tell its memory through os.sysconf"


def _memory(pages: str) -> Optional[int]:
    try:
        return os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError):  # Windows has no sysconf, macOS no free pages
        return None


# Asked once: compiled code can read the answer, but not ask.
_total_memory = _memory("SC_PHYS_PAGES")
_properties = None if _total_memory is None else DeviceProperties("cpu", _total_memory)


# ---- random numbers: the CPU's generator belongs to torch.manual_seed ----

FOREIGN_RNG_STATE = (
    "the checkpoint's random state was saved on another kind or number of devices and is skipped: "
    "the run goes on, with other random numbers on the device than the saved one would have had"
)


def manual_seed(seed: int) -> None:
    int(seed)


manual_seed_all = manual_seed


seed = seed_all = _nothing


def initial_seed() -> int:
    return torch.initial_seed()


default_generators: Tuple[torch.Generator, ...] = ()


def get_rng_state(device: Device = "cpu") -> torch.Tensor:
    return torch.get_rng_state()


def get_rng_state_all() -> List[torch.Tensor]:
    return []


def set_rng_state(new_state: torch.Tensor, device: Device = "cpu") -> None:
    """Restore a state that `get_rng_state` gave on a CPU; warn of another device's and skip it."""
    if new_state.numel() == torch.get_rng_state().numel():
        torch.set_rng_state(new_state)
    else:
        warn_once(FOREIGN_RNG_STATE)


def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
    """Take the empty list that `get_rng_state_all` gave on a CPU; warn of another device's list."""
    if list(new_states):
        warn_once(FOREIGN_RNG_STATE)


def fork_rng(devices: Optional[Iterable[int]] = None, enabled: bool = True) -> Any:
    return torch.random.fork_rng([], enabled)  # device_type="cpu" raises in torch 2.13


# ---- streams and events: the CPU runs everything at once and in order ----


class Event:
    """An event of the CPU: what was asked for before it is done when it is recorded.

    Args:
        enable_timing: Whether `elapsed_time` may be asked.
        blocking: Taken and ignored, like the next two.
        interprocess: Taken and ignored.
        external: Taken and ignored.
    """

    _seconds: Optional[float] = None

    def __init__(
        self,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
        external: bool = False,
    ) -> None:
        self.enable_timing = enable_timing

    def record(self, stream: Optional[Stream] = None) -> None:
        # Compiled code may order work by events, but can't read the clock.
        if self.enable_timing:
            self._seconds = time.perf_counter()

    def wait(self, stream: Optional[Stream] = None) -> None:
        pass

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, end_event: Event) -> float:
        """Return the milliseconds between this event's recording and the other's.

        Raises:
            ValueError: One of the events doesn't time, or was never recorded.
        """
        if not (self.enable_timing and end_event.enable_timing):
            raise ValueError("both events must be created with enable_timing=True")
        if self._seconds is None or end_event._seconds is None:
            raise ValueError("both events must be recorded before the time between them is asked")
        return (end_event._seconds - self._seconds) * 1000.0


class Stream:
    """A stream of the CPU: work on it is done when the call returns."""

    device = torch.device("cpu")

    def __init__(self, device: Device = None, priority: int = 0, **kwargs: Any) -> None:
        self.priority = priority

    def wait_event(self, event: Event) -> None:
        pass

    def wait_stream(self, stream: Stream) -> None:
        pass

    def record_event(self, event: Optional[Event] = None) -> Event:
        event = Event() if event is None else event
        event.record(self)
        return event

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        pass


class StreamContext:
    """Context manager that selects nothing: there is one order of work on the CPU."""

    def __init__(self, stream: Optional[Stream]) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc_info: object) -> None:
        pass


def stream(stream: Optional[Stream]) -> StreamContext:
    return StreamContext(stream)


_the_stream = Stream()


def set_stream(stream: Optional[Stream]) -> None:
    pass


def current_stream(device: Device = None) -> Stream:
    return _the_stream


default_stream = current_stream


class nvtx:
    """torch.cuda.nvtx without a profiler that would show the ranges."""

    @staticmethod
    def mark(msg: str) -> None:
        pass

    @staticmethod
    def range_push(msg: str) -> int:
        return 0

    @staticmethod
    def range_pop() -> int:
        return 0

    @staticmethod
    def range_start(msg: str) -> int:
        return 0

    @staticmethod
    def range_end(range_id: int) -> None:
        pass

    class range(contextlib.ContextDecorator):
        """Context manager and decorator that marks nothing."""

        def __init__(self, msg: str, *args: Any, **kwargs: Any) -> None:
            pass

        def __enter__(self) -> None:
            pass

        def __exit__(self, *exc_info: object) -> None:
            pass


# ---- names that torch.cuda lacks ----


def is_accelerator(x: Any) -> bool:
    return False


def dist_backend(cpu: bool = False) -> str:
    return "gloo"


def device_ids(rank: Any) -> None:
    """Answer None: DistributedDataParallel refuses a list on the CPU."""


def device_id(rank: Any) -> None:
    """Answer None: init_process_group refuses a CPU device."""


def pin_memory(t: Any) -> Any:
    return t


def record_stream(t: torch.Tensor, s: Any) -> None:
    pass


def profiler_activities() -> List[torch.profiler.ProfilerActivity]:
    return [torch.profiler.ProfilerActivity.CPU]


# ---- mixed precision ----


class IdleScaler(torch.cuda.amp.GradScaler):
    """A scaler that is disabled for want of a device, and keeps its state for one that is not.

    torch's disabled scaler saves nothing, and its enabled one refuses to load nothing; so a
    checkpoint that passes through the CPU could not be resumed on an accelerator.
    """

    state: Dict[str, Any]

    def state_dict(self) -> Dict[str, Any]:
        """Return the state that was loaded, or that of a new scaler."""
        return dict(self.state)

    def load_state_dict(self, state_dict: Dict[str, Any]) -> None:
        """Keep a state, to hand it on."""
        self.state.update(state_dict)
