"""The processes that a command has started, and their end."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

GRACE = 10.0
"""Seconds for launchers to end their workers, and for programs to write what they have."""
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


def end(leader: int, mark: str, grace: float = GRACE) -> int:
    """End a command: politely, and after a while or a second Ctrl-C by force.

    Args:
        leader: the process that was started, at the head of a session of its own.
        mark: a text in the environment of all that it has started.
        grace: seconds between asking and forcing.

    Returns:
        How many processes other than the leader were still there.
    """
    others = [pid for pid in alive(mark) if pid != leader]
    try:
        _signal(leader, others, signal.SIGTERM)
        deadline = time.monotonic() + grace
        while (_group_lives(leader) or alive(mark)) and time.monotonic() < deadline:
            time.sleep(_PAUSE)
    finally:
        for _ in range(100):  # what is being started while we look is found by the next look
            _signal(leader, alive(mark), signal.SIGKILL)
            if not alive(mark):
                break
            time.sleep(_PAUSE)
    return len(others)


def _signal(leader: int, others: list[int], number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)
    for pid in others:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _group_lives(leader: int) -> bool:
    try:
        os.killpg(leader, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True
