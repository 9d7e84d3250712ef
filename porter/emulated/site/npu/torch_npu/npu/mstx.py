"""Profiler ranges, which nothing records here."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any


class mstx:
    """The real package's names; ranges get numbers and go nowhere."""

    _last = 0

    @staticmethod
    def mark(message: str, stream: Any = None, domain: str = "default") -> None:
        """Does nothing."""

    @staticmethod
    def range_start(message: str, stream: Any = None, domain: str = "default") -> int:
        """Returns the number of a new range."""
        mstx._last += 1
        return mstx._last

    @staticmethod
    def range_end(range_id: int, domain: str = "default") -> None:
        """Does nothing."""

    @staticmethod
    def range_push(message: str, stream: Any = None, domain: str = "default") -> int:
        """Returns 0, the depth of the outermost range."""
        return 0

    @staticmethod
    def range_pop(domain: str = "default") -> int:
        """Returns 0."""
        return 0

    @staticmethod
    def mstx_range(
        message: str, stream: Any = None, domain: str = "default"
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Returns a decorator that changes nothing."""
        return lambda function: function

    class annotate(contextlib.ContextDecorator):
        """Context manager and decorator that changes nothing."""

        def __init__(self, message: str = "", stream: Any = None, domain: str = "default") -> None:
            self.message = message

        def __enter__(self) -> mstx.annotate:
            return self

        def __exit__(self, *args: object) -> None:
            pass
