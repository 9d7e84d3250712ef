"""Profiler ranges, which nothing records here."""

from __future__ import annotations

_depths: list[str] = []


def rangePushA(message: str) -> int:
    """Opens a range and returns its depth, from 0."""
    _depths.append(message)
    return len(_depths) - 1


def rangePop() -> int:
    """Closes the innermost range and returns its depth, or -2 where none is open."""
    if not _depths:
        return -2
    _depths.pop()
    return len(_depths)


def rangeStartA(message: str) -> int:
    """Returns 0 for a new range."""
    return 0


def rangeEnd(range_id: int) -> None:
    """Does nothing."""


def markA(message: str) -> None:
    """Does nothing."""
