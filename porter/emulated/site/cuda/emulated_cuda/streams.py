"""Streams and events. Work is synchronous, so these only carry identity and time."""

from __future__ import annotations

from typing import Any

import torch

from .extension import _C


class StreamBase(torch._C.Stream):
    """The base of ``torch.cuda.Stream``."""

    def __new__(
        cls,
        priority: int = 0,
        stream_id: int = 0,
        device_index: int = 0,
        device_type: int = 0,
        stream_ptr: int = 0,
    ) -> StreamBase:
        """Makes a new stream on the current device, or wraps one given by its three numbers."""
        if stream_ptr:
            raise NotImplementedError("external streams need a real CUDA device: it is emulated")
        torch.cuda._lazy_init()  # type: ignore[no-untyped-call]
        if device_type:
            return super().__new__(
                cls, stream_id=stream_id, device_index=device_index, device_type=device_type
            )
        device = torch.device("cuda", torch.cuda.current_device())
        return super().__new__(cls, device=device, priority=priority)

    @property
    def cuda_stream(self) -> int:
        """The stream's id, in place of a runtime handle."""
        return int(self.stream_id)

    @property
    def priority(self) -> int:
        """Returns 0: priorities have no meaning without concurrency."""
        return 0

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """Returns the lowest and the highest priority, as on an A100."""
        return (0, -5)


class EventBase(torch._C.Event):
    """The base of ``torch.cuda.Event``."""

    _enable_timing: bool

    def __new__(
        cls,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
        external: bool = False,
    ) -> EventBase:
        """Makes an event; `interprocess` isn't emulated."""
        if interprocess:
            raise NotImplementedError("interprocess events need a real CUDA device: it is emulated")
        event = super().__new__(cls, "cuda", enable_timing=enable_timing, blocking=blocking)
        event._enable_timing = enable_timing
        return event

    @property
    def cuda_event(self) -> int:
        """The event's id, in place of a runtime handle."""
        return int(self.event_id)

    def elapsed_time(self, other: Any) -> float:
        """Returns the milliseconds between this event and another recorded one."""
        # torch.Event's own refuses subclasses.
        if not (self._enable_timing and other._enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        return float(_C.elapsed_ms(self.event_id, other.event_id))


def _numbers(stream: torch.Stream) -> tuple[int, int, int]:
    return stream.stream_id, stream.device_index, stream.device_type


def _current(device: int) -> tuple[int, int, int]:
    torch.cuda._lazy_init()  # type: ignore[no-untyped-call]
    index = device if device >= 0 else torch.cuda.current_device()
    return _numbers(torch._C._accelerator_getStream(index))


def _default(device: int) -> tuple[int, int, int]:
    _, index, device_type = _current(device)
    return 0, index, device_type


def _set(stream_id: int, device_index: int, device_type: int) -> None:
    stream = torch.Stream(stream_id=stream_id, device_index=device_index, device_type=device_type)
    torch._C._accelerator_setStream(stream)


class Graph:
    """The base of ``torch.cuda.CUDAGraph``, which isn't emulated."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Graph:
        """Raises NotImplementedError."""
        raise NotImplementedError("CUDA graphs need a real CUDA device: this one is emulated")


NAMES: dict[str, Any] = {
    "_CudaStreamBase": StreamBase,
    "_CudaEventBase": EventBase,
    "_CUDAGraph": Graph,
    "_graph_pool_handle": Graph,
    "_cuda_isCurrentStreamCapturing": lambda: False,
    "_cuda_getCurrentStream": _current,
    "_cuda_getCurrentRawStream": lambda device: _current(device)[0],
    "_cuda_getDefaultStream": _default,
    "_cuda_setStream": _set,
}
