from __future__ import annotations

import os
import signal
import time

import pytest

from porter.parallel import Died, ordered_map


def processes(count: int) -> list[int]:
    def whose(_: int) -> int:
        time.sleep(0.02)
        return os.getpid()

    results = list(ordered_map(whose, range(8), count))
    assert all(isinstance(result, int) for result in results)
    return [result for result in results if isinstance(result, int)]


def test_one_job_works_in_this_process() -> None:
    assert set(processes(1)) == {os.getpid()}


def test_several_jobs_work_in_others() -> None:
    used = set(processes(3))
    assert os.getpid() not in used
    assert 1 < len(used) <= 3


@pytest.mark.parametrize("jobs", [1, 2, 3, 50])
def test_results_come_in_order(jobs: int) -> None:
    def slow_at_first(number: int) -> int:
        if number < 2:
            time.sleep(0.05)
        return number * number

    items = range(40)
    assert list(ordered_map(slow_at_first, items, jobs)) == [n * n for n in items]


def test_large_results_pass() -> None:
    results = list(ordered_map(lambda n: bytes([n]) * 1_000_000, range(6), 2))
    assert results == [bytes([n]) * 1_000_000 for n in range(6)]


@pytest.mark.parametrize("jobs", [2, 3])
def test_a_worker_that_dies_costs_one_item(jobs: int) -> None:
    def die_at_some(number: int) -> int:
        if number in (0, 5, 6):
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    results = list(ordered_map(die_at_some, range(10), jobs))
    assert [n for n, result in enumerate(results) if isinstance(result, Died)] == [0, 5, 6]
    assert [r for r in results if not isinstance(r, Died)] == [1, 2, 3, 4, 7, 8, 9]
    assert isinstance(results[0], Died)
    assert "signal 9" in results[0].reason


def test_an_exit_and_an_exception_are_told(capfd: pytest.CaptureFixture[str]) -> None:
    def fail(number: int) -> int:
        if number == 0:
            os._exit(7)
        raise RuntimeError("what went wrong")

    results = list(ordered_map(fail, range(2), 2))
    assert results[0] == Died("exit code 7")
    assert results[1] == Died("exit code 1")
    assert "what went wrong" in capfd.readouterr().err


def test_a_worker_that_dies_idle_costs_nothing() -> None:
    def whose(number: int) -> int:
        return os.getpid()

    results = ordered_map(whose, range(200), 2)
    first = next(results)
    assert isinstance(first, int)
    os.kill(first, signal.SIGKILL)
    rest = list(results)
    lost = [result for result in rest if isinstance(result, Died)]
    assert len(rest) == 199
    assert len(lost) <= 1  # the item, if any, that it was given before it died


def test_a_map_that_is_given_up_leaves_no_processes() -> None:
    results = ordered_map(lambda n: os.getpid(), range(100), 2)
    worker = next(results)
    assert isinstance(worker, int)
    results.close()
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)
