"""Devices on a machine that has CUDA."""

from __future__ import annotations

from typing import Any


class Device(str):
    """torch.device on a machine with CUDA; the text of one as well, where a text is meant."""

    type: str
    index: int | None  # type: ignore[assignment]  # hides str.index, as nobody calls it

    def __new__(cls, type: Any = "cuda", index: Any = None, device: Any = None) -> Device:
        if isinstance(type, int):
            type, index = "cuda", int(type)
        kind, _, number = (device or type).partition(":")
        index = int(number) if number else index
        kind = "cpu" if index == -1 else kind  # what a tensor on the CPU says of itself
        made = super().__new__(cls, kind if index is None or kind == "cpu" else f"{kind}:{index}")
        made.type, made.index = kind, index
        return made

    def __enter__(self) -> None: ...

    def __exit__(self, *failure: object) -> None: ...


class Current(int):
    """What torch.cuda.current_device() returns: an index, which is a device where one is taken."""


def of_index(value: Any) -> Any:
    """Return the device that an index means; -1 is what a tensor on the CPU says of itself."""
    if type(value) not in (int, Current):
        return value
    return Device("cuda", int(value))
