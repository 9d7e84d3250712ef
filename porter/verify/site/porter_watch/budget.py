"""How much of the program's time the watching may take."""

from __future__ import annotations

import functools
import time
from typing import Any, Callable

_SHARE = 0.02
"""Of the time since the first step: beyond it, what costs most is left out until it fits again."""


class Budget:
    """Counts the seconds spent in here beside those that have gone by."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self._spent = 0.0
        self._since = time.perf_counter()

    def counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with its time counted."""

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            begin = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self._spent += time.perf_counter() - begin

        return call

    def allows(self) -> bool:
        """Tell whether there is time left for what could be done without."""
        return self._spent <= _SHARE * (time.perf_counter() - self._since)
