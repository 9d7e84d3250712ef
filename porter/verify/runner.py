"""Runs the command on one backend, watched, and ends all that it started."""

from __future__ import annotations

import contextlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from porter.verify import collect, processes
from porter.verify.child import watched
from porter.verify.journal import Reader, Written
from porter.verify.outcome import Run, Status

_PAUSE = 0.1
_TAIL_LINES, _TAIL_BYTES = 60, 30_000
_STOPPING = 15.0
"""Seconds that a program has to end by itself after `--steps`."""
_OUT_OF_MEMORY = ("OutOfMemoryError", "out of memory", "MemoryError")

Watcher = Callable[[Run, Sequence[Written], float], None]


@dataclass(frozen=True)
class Plan:
    """What is to be run, and how.

    Attributes:
        command: the words; `{out}` and `{port}` become a folder and a free port of the run's own.
        folder: where it is run.
        root: the user's code: a folder, or a file.
        environment: without what watching needs.
        trap: whether uses of torch.cuda are recorded.
        steps: after how many steps the command is ended; None for never.
        timeout: seconds; None for no limit.
    """

    command: Sequence[str]
    folder: Path
    root: Path
    environment: Mapping[str, str]
    trap: bool
    steps: int | None = None
    timeout: float | None = None


def execute(plan: Plan, run: Run, watcher: Watcher) -> None:
    """Run the command and put what came of it into `run`, also when it is interrupted.

    Raises:
        KeyboardInterrupt: after all processes were ended and what was seen was put into `run`.
    """
    with _scratch() as scratch:
        journal, log = scratch / "journal", scratch / "output"
        journal.mkdir()
        (scratch / "out").mkdir()
        command = _filled(plan.command, scratch / "out")
        env = watched(plan.environment, journal, plan.root, trap=plan.trap, steps=plan.steps)
        reader = Reader(journal)
        start = time.monotonic()
        try:
            with log.open("wb") as output:
                child = subprocess.Popen(
                    command,
                    cwd=plan.folder,
                    env=env,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except (FileNotFoundError, PermissionError, NotADirectoryError) as error:
            run.status, run.reason = "not-found", f"{command[0]} can't be started: {error.strerror}"
            return
        status: Status | None = "interrupted"
        try:
            status = _wait(child, plan, reader, lambda seen, t: watcher(run, seen, t), start)
        finally:
            run.seconds = time.monotonic() - start
            if status is None:
                processes.linger(str(journal))
            processes.end(child, str(journal))
            run.exit_code = child.wait()
            _fill_in(run, reader.read(), log, status, plan)


def _wait(
    child: subprocess.Popen[bytes],
    plan: Plan,
    reader: Reader,
    watcher: Callable[[Sequence[Written], float], None],
    start: float,
) -> Status | None:
    """Wait for the end; return "timeout" or "stopped" if it is for porter to bring it about."""
    stopping: float | None = None
    while child.poll() is None:
        time.sleep(_PAUSE)
        elapsed = time.monotonic() - start
        if plan.timeout is not None and elapsed > plan.timeout:
            return "timeout"
        seen = reader.read()
        watcher(seen, elapsed)
        if plan.steps and stopping is None and _all_stopped(seen):
            stopping = elapsed
        if stopping is not None and elapsed - stopping > _STOPPING:
            return "stopped"
    return None


def _all_stopped(seen: Sequence[Written]) -> bool:
    trained = [written for written in seen if written.rows]
    return bool(trained) and all(written.stopped for written in trained)


def _fill_in(
    run: Run, seen: Sequence[Written], log: Path, status: Status | None, plan: Plan
) -> None:
    run.processes, run.restarts = collect.processes(seen)
    run.trapped = collect.traps(seen)
    run.transfer_to_npu = any(written.state.get("transfer_to_npu") for written in seen)
    run.environment |= collect.versions(seen)
    run.tail = _tail(log)
    run.status, run.reason = _judge(run, seen, status, plan)


def _judge(
    run: Run, seen: Sequence[Written], status: Status | None, plan: Plan
) -> tuple[Status, str]:
    if status == "timeout":
        return status, f"it was still running after {plan.timeout:g} s, and was ended"
    if status == "interrupted":
        return status, "porter was interrupted, and ended it"
    stopped = plan.steps is not None and _all_stopped(seen)
    if run.exit_code == 0 or stopped:
        if not run.processes:
            return "no-steps", _why_no_steps(seen)
        if not any(process.user_code for process in run.processes):
            return "other-code", (
                f"what trained is no code under {plan.root}: is another copy of it installed? "
                "Put the one that is meant on PYTHONPATH"
            )
        return ("stopped" if stopped else "trained"), ""
    error = collect.first_error(seen)
    if any(text in line for line in [*run.tail, error or ""] for text in _OUT_OF_MEMORY):
        return "out-of-memory", "it ran out of memory: take a smaller batch or model"
    assert run.exit_code is not None
    if run.exit_code == -signal.SIGKILL:
        return "out-of-memory", "it was killed from outside: most likely for the machine's memory"
    if run.exit_code < 0:
        return "crashed", f"it was ended by {signal.Signals(-run.exit_code).name}"
    if run.exit_code == 127:  # a shell, env or a launcher that found no program
        return "not-found", "a command that it starts was not found (exit code 127)"
    said = f": {error}" if error else ""
    return "crashed", f"it ended with exit code {run.exit_code}{said}"


def _why_no_steps(seen: Sequence[Written]) -> str:
    if not seen:
        return (
            "no process of it that imports torch could be watched: the command must pass "
            "PYTHONPATH and PORTER_VERIFY on, and run Python without -E, -I and -S"
        )
    return (
        "it made no step of a torch.optim optimizer: give porter a command that trains "
        "(more epochs or batches, and no early exit)"
    )


def _tail(log: Path) -> list[str]:
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
        text = file.read().decode(errors="replace")
    # A progress bar rewrites its line: what stands at the end counts.
    lines = [line.rstrip("\r").rpartition("\r")[2].rstrip() for line in text.split("\n")]
    return [line for line in lines if line][-_TAIL_LINES:]


def _filled(command: Sequence[str], out: Path) -> list[str]:
    port = _free_port()
    return [word.replace("{out}", str(out)).replace("{port}", port) for word in command]


def _free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


@contextlib.contextmanager
def _scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="porter-verify-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
