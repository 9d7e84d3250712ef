"""The file that a process writes what was seen to, a line of JSON for each thing."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import time
import traceback
from typing import Any, Callable, Set, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

_FAULTS = 20
"""How many faults a process reports; they would be the same ones over and over."""


class Journal:
    """Appends to a file of this process; a forked child gets one of its own."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._pid = 0
        self._path = ""
        self._faults: Set[str] = set()

    def write(self, kind: str, **fields: Any) -> None:
        """Append a line. The file is opened anew: programs close descriptors they don't know."""
        pid = os.getpid()
        if pid != self._pid:
            self._pid = pid
            self._path = os.path.join(self._folder, f"{time.time_ns():020}-{pid}.jsonl")
        line = json.dumps({"kind": kind, **fields}, separators=(",", ":")) + "\n"
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)

    def fault(self, error: BaseException) -> None:
        """Write down what went wrong in here; never raise."""
        place = traceback.extract_tb(error.__traceback__)[-1]
        name = os.path.basename(place.filename)
        text = f"{type(error).__name__}: {error} ({name}:{place.lineno})"
        if text not in self._faults and len(self._faults) < _FAULTS:
            self._faults.add(text)
            with contextlib.suppress(OSError):  # the run is over and its folder gone
                self.write("fault", text=text)

    def guarded(self, function: Function) -> Function:
        """Return the function with its exceptions written down in place of raised."""

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except Exception as error:
                self.fault(error)
                return None

        return call  # type: ignore[return-value]
