from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from porter.doctor.asking import Answer, ask


def test_an_answer(tmp_path: Path) -> None:
    answer = ask(["sh", "-c", "echo said; echo told >&2; echo $WORD"], 10, {"WORD": "word"})
    assert answer == Answer("said\nword\n", "told\n", "")
    assert answer.last_words == "told"


@pytest.mark.parametrize(
    ("script", "failure", "last"),
    [
        ("echo out; exit 3", "ended with exit code 3", "out"),
        ("echo a; echo b >&2; kill -ABRT $$", "ended by signal 6 (Aborted)", "b"),
        ("printf '\\377'", "", "\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_how_it_ended(script: str, failure: str, last: str) -> None:
    answer = ask(["sh", "-c", script], 10)
    assert (answer.failure, answer.last_words) == (failure, last)


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    assert ask([str(tmp_path / "none")], 10).failure == (
        "can't be started: No such file or directory"
    )
    assert ask([str(tmp_path)], 10).failure == "can't be started: Permission denied"


def test_a_program_that_hangs_is_killed_with_its_children(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    answer = ask(["sh", "-c", f"echo begun; sleep infinity & echo $! > {pid}; wait"], 1)
    assert (answer.out, answer.failure) == ("begun\n", "gave no answer within 1 s")
    assert has_ended(pid)


def test_a_child_that_outlives_the_program_is_ended(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    assert ask(["sh", "-c", f"sleep infinity & echo $! > {pid}; echo done"], 300).out == "done\n"
    assert has_ended(pid)


def has_ended(pid: Path) -> bool:
    """Whether the process whose number is in the file ends soon; nobody need have buried it."""
    for _ in range(100):
        state = subprocess.run(
            ["ps", "-o", "stat=", "-p", pid.read_text().strip()], capture_output=True, check=False
        ).stdout.strip()
        if state in {b"", b"Z"}:
            return True
        time.sleep(0.1)
    return False


def test_it_is_never_asked_for_input() -> None:
    assert ask([sys.executable, "-c", "print(repr(input()))"], 60).last_words.startswith("EOFError")
