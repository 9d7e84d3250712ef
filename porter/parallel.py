"""A map over forked workers: results in order, one lost item for each worker that dies.

Bare forks cost a third of an interpreter's start; `multiprocessing` costs a dozen of them.
"""

from __future__ import annotations

import os
import selectors
import signal
import struct
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, NoReturn, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_INDEX = struct.Struct("=Q")
_AHEAD = 8
"""How many items a worker may be ahead of the result that is waited for: it bounds memory."""


@dataclass(frozen=True)
class Died:
    """Stands for the result of an item whose worker ended before it answered."""

    reason: str


def cpu_count() -> int:
    """Return how many CPUs this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def ordered_map(
    function: Callable[[Item], Result], items: Sequence[Item], jobs: int
) -> Generator[Result | Died, None, None]:
    """Yield `function(item)` for each item, in order.

    With one job, or where the system can't fork, the calls are made in this process. Otherwise
    results must be picklable; items need not be.

    Args:
        function: pure as far as the caller can see: a worker's changes to memory are lost.
        items: what to work on.
        jobs: how many workers at most.
    """
    jobs = min(jobs, len(items))
    if jobs <= 1 or not hasattr(os, "fork"):
        yield from map(function, items)
        return
    pool = _Pool(function, items, jobs)
    try:
        yield from pool.results()
    finally:
        pool.close()


class _Worker:
    """A forked process that answers one item at a time, and the parent's ends of its pipes.

    `at` is the index of the item that it works on, None while it is idle.
    """

    def __init__(
        self, function: Callable[[Item], object], items: Sequence[Item], others: list[_Worker]
    ) -> None:
        request_in, request_out = os.pipe()
        answer_in, answer_out = os.pipe()
        self.at: int | None = None
        self.pid = os.fork()
        if self.pid == 0:
            inherited = [descriptor for other in others for descriptor in other.descriptors()]
            for descriptor in (request_out, answer_in, *inherited):
                os.close(descriptor)
            _serve(function, items, request_in, answer_out)
        os.close(request_in)
        os.close(answer_out)
        self.requests = os.fdopen(request_out, "wb", buffering=0)
        self.answers = os.fdopen(answer_in, "rb")

    def descriptors(self) -> tuple[int, int]:
        return self.requests.fileno(), self.answers.fileno()

    def ask(self, index: int) -> None:
        self.requests.write(_INDEX.pack(index))
        self.at = index

    def answer(self) -> bytes | None:
        """Return the pickled answer, None from a worker that has died."""
        head = self.answers.read(_INDEX.size)
        if len(head) < _INDEX.size:
            return None
        (length,) = _INDEX.unpack(head)
        body = self.answers.read(length)
        return body if len(body) == length else None

    def bury(self) -> str:
        """Close the pipes, wait for the end, and return how it came."""
        self.requests.close()
        self.answers.close()
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        if code >= 0:
            return f"exit code {code}"
        hint = ", as when memory runs out" if -code == signal.SIGKILL else ""
        return f"signal {-code} ({signal.strsignal(-code)}{hint})"


def _serve(
    function: Callable[[Item], object], items: Sequence[Item], requests: int, answers: int
) -> NoReturn:
    """Answer requests until there are no more; never return to the parent's code."""
    import pickle  # here, since a run in one process needs it not

    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and decides
        while request := os.read(requests, _INDEX.size):
            (index,) = _INDEX.unpack(request)
            body = pickle.dumps(function(items[index]), pickle.HIGHEST_PROTOCOL)
            with os.fdopen(answers, "wb", closefd=False) as file:
                file.write(_INDEX.pack(len(body)) + body)
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)


class _Pool(Generic[Item, Result]):
    def __init__(
        self, function: Callable[[Item], Result], items: Sequence[Item], jobs: int
    ) -> None:
        self._function = function
        self._items = items
        self._jobs = jobs
        self._asked = 0
        self._ready: dict[int, Result | Died] = {}
        self._workers: list[_Worker] = []
        self._selector = selectors.DefaultSelector()

    def results(self) -> Iterator[Result | Died]:
        for wanted in range(len(self._items)):
            while wanted not in self._ready:
                self._hand_out(limit=wanted + _AHEAD * self._jobs)
                for key, _ in self._selector.select():
                    self._receive(key.data)
            yield self._ready.pop(wanted)

    def _hand_out(self, limit: int) -> None:
        """Give an item to each worker that has none, up to the item number `limit`."""
        while self._asked < min(limit, len(self._items)):
            worker = self._idle_worker()
            if worker is None:
                return
            try:
                worker.ask(self._asked)
            except BrokenPipeError:
                self._remove(worker)
            else:
                self._asked += 1

    def _idle_worker(self) -> _Worker | None:
        for worker in self._workers:
            if worker.at is None:
                return worker
        if len(self._workers) == self._jobs:
            return None
        worker = _Worker(self._function, self._items, self._workers)
        self._workers.append(worker)
        self._selector.register(worker.answers, selectors.EVENT_READ, worker)
        return worker

    def _receive(self, worker: _Worker) -> None:
        import pickle

        body, at, worker.at = worker.answer(), worker.at, None
        result = Died(self._remove(worker)) if body is None else pickle.loads(body)
        if at is not None:  # None: an idle worker was killed, which loses nothing
            self._ready[at] = result

    def _remove(self, worker: _Worker) -> str:
        self._selector.unregister(worker.answers)
        self._workers.remove(worker)
        return worker.bury()

    def close(self) -> None:
        """End the workers, whatever they are doing."""
        self._selector.close()
        for worker in self._workers:
            os.kill(worker.pid, signal.SIGKILL)
            worker.bury()
