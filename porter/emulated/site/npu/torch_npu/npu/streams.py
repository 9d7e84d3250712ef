"""Streams and events. Work is synchronous, so these only carry identity and time."""

from __future__ import annotations

from typing import Any

import torch

from ._devices import _get_device_index, init
from ._library import _C


class Stream(torch.Stream):
    """A stream of an NPU; everything submitted to it has already happened."""

    def __new__(cls, device: Any = None, priority: int = 0, **kwargs: Any) -> Stream:
        """Makes a new stream on a device, or wraps one given by ``stream_id=...``."""
        init()
        if "stream_id" not in kwargs:
            kwargs["device"] = torch.device("npu", _get_device_index(device, optional=True))
            kwargs["priority"] = priority
        return super().__new__(cls, **kwargs)

    @property
    def npu_stream(self) -> int:
        """The stream's id, in place of a runtime handle."""
        return int(self.stream_id)

    def wait_event(self, event: Any) -> None:
        """Orders later work after an event."""
        event.wait(self)

    def wait_stream(self, stream: Any) -> None:
        """Orders later work after all work of another stream."""
        self.wait_event(stream.record_event())

    def record_event(self, event: Any = None) -> Any:
        """Records an event, a new one if none is given, and returns it."""
        if event is None:
            event = Event()
        event.record(self)
        return event

    def __repr__(self) -> str:
        return f"<torch_npu.npu.Stream device={self.device} id={self.npu_stream} emulated>"


class Event(torch.Event):
    """A time stamp."""

    _enable_timing: bool

    def __new__(
        cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> Event:
        """Makes an event; `interprocess` isn't emulated."""
        if interprocess:
            raise NotImplementedError("interprocess events need a real Ascend NPU")
        event = super().__new__(cls, "npu", enable_timing=enable_timing, blocking=blocking)
        event._enable_timing = enable_timing
        return event

    def elapsed_time(self, end_event: Any) -> float:
        """Returns the milliseconds between this event and another recorded one."""
        # torch.Event's own refuses subclasses.
        if not (self._enable_timing and end_event._enable_timing):
            raise RuntimeError("Both events must be created with argument 'enable_timing=True'.")
        return float(_C.elapsed_ms(self.event_id, end_event.event_id))


class StreamContext:
    """Context manager that makes a stream, and its device, current; a no-op for None."""

    def __init__(self, stream_ctx: Stream | None) -> None:
        self.stream = stream_ctx
        self._previous: list[Stream] = []

    def __enter__(self) -> None:
        if self.stream is not None:
            self._previous = [current_stream(self.stream.device), current_stream()]
            set_stream(self.stream)

    def __exit__(self, *args: object) -> None:
        for previous in self._previous:
            set_stream(previous)


def stream(stream: Stream | None) -> StreamContext:
    """Returns a context manager that makes a stream current."""
    return StreamContext(stream)


def set_stream(stream: Stream | None) -> None:
    """Makes a stream, and its device, current; a no-op for None."""
    if stream is not None:
        torch.accelerator.set_stream(stream)


def current_stream(device: Any = None) -> Stream:
    """Returns a device's current stream."""
    init()
    return _as_stream(torch.accelerator.current_stream(_get_device_index(device, optional=True)))


def default_stream(device: Any = None) -> Stream:
    """Returns a device's default stream."""
    init()
    return Stream(
        stream_id=0,
        device_index=_get_device_index(device, optional=True),
        device_type=torch.accelerator.current_stream().device_type,
    )


def is_current_stream_capturing() -> bool:
    """Returns False: graphs aren't emulated."""
    return False


def _as_stream(base: torch.Stream) -> Stream:
    return Stream(
        stream_id=base.stream_id, device_index=base.device_index, device_type=base.device_type
    )
