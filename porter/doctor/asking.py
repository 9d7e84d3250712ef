"""Asking another program, which may be missing, fail, die or never answer."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Answer:
    """What a program said; `failure` is empty where it ended with 0, else says what happened."""

    out: str = ""
    err: str = ""
    failure: str = ""

    @property
    def last_words(self) -> str:
        """Its last line, of those for errors before the others; empty where it said nothing."""
        for text in (self.err, self.out):
            lines = text.strip().splitlines()
            if lines:
                return lines[-1].strip()
        return ""


def ask(
    command: Sequence[str], timeout: float, environment: Mapping[str, str] | None = None
) -> Answer:
    """Run a program and return its answer; it never raises for what the program does.

    Args:
        command: the program and its arguments.
        timeout: seconds, after which it is killed together with its children.
        environment: its environment; None hands on the present one.
    """
    # Files and not pipes: a child that outlives the program would keep a pipe open.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            return Answer(failure=f"can't be started: {error.strerror or error}")
        try:
            failure = _end(process.wait(timeout))
        except subprocess.TimeoutExpired:
            failure = f"gave no answer within {timeout:g} s"
        finally:
            _kill(process)
        out.seek(0)
        err.seek(0)
        return Answer(_text(out.read()), _text(err.read()), failure)


def _kill(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        process.kill()
    process.wait()


def _end(code: int) -> str:
    if code < 0:
        return f"ended by signal {-code} ({signal.strsignal(-code) or 'unknown'})"
    return f"ended with exit code {code}" if code else ""


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
