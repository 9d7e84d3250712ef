"""The processes that a command has started, and their end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

_GRACE = 10.0
"""Seconds for launchers to end their workers, and for programs to write what they have."""
_LINGER = 2.0
"""Seconds for what is left of a command that has ended to end by itself."""
_PAUSE = 0.05


def alive(mark: str) -> list[int]:
    """Return the processes whose environment holds a text: the command's, in whatever session.

    Launchers put their workers into sessions of their own. Where there is no /proc, none are found.
    """
    wanted, own = mark.encode(), os.getpid()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            pid = int(path.parent.name)
            if pid != own and wanted in path.read_bytes():
                found.append(pid)
    return found


def linger(mark: str) -> None:
    """Wait a little for helpers of a command that has ended: loggers that write their last."""
    deadline = time.monotonic() + _LINGER
    while alive(mark) and time.monotonic() < deadline:
        time.sleep(_PAUSE)


def end(child: subprocess.Popen[bytes], mark: str) -> None:
    """End a command: politely, and after a while or a second Ctrl-C by force.

    Args:
        child: the process that was started, at the head of a session of its own.
        mark: a text in the environment of all that it has started.
    """
    try:
        _signal(child.pid, alive(mark), signal.SIGTERM)
        deadline = time.monotonic() + _GRACE
        while (_lives(child) or alive(mark)) and time.monotonic() < deadline:
            time.sleep(_PAUSE)
    finally:
        for _ in range(100):  # what is being started while we look is found by the next look
            _signal(child.pid, alive(mark), signal.SIGKILL)
            if not alive(mark):
                break
            time.sleep(_PAUSE)


def _signal(leader: int, others: list[int], number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)
    for pid in others:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _lives(child: subprocess.Popen[bytes]) -> bool:
    """Tell whether anything of the child's process group is left."""
    child.poll()  # or it stays, ended, until somebody asks
    try:
        os.killpg(child.pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True
