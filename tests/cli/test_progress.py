from __future__ import annotations

import io
import sys
import time

import pytest

from porter.progress import watched


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def watch(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Put a terminal in the place of stderr; not in a fixture, after which pytest takes it back."""
    made = Terminal()
    monkeypatch.setattr(sys, "stderr", made)
    return made


def clock(monkeypatch: pytest.MonkeyPatch, step: float) -> None:
    now = 0.0

    def monotonic() -> float:
        nonlocal now
        now += step
        return now

    monkeypatch.setattr(time, "monotonic", monotonic)


def test_a_long_run_shows_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watch(monkeypatch)
    clock(monkeypatch, 0.4)
    assert list(watched(iter(range(10)), 10)) == list(range(10))
    assert "porting" in terminal.getvalue()
    assert "100%" in terminal.getvalue()


def test_a_short_run_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watch(monkeypatch)
    clock(monkeypatch, 0.01)
    assert list(watched(iter(range(10)), 10)) == list(range(10))
    assert terminal.getvalue() == ""


def test_without_a_terminal_nothing_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock(monkeypatch, 10)
    assert list(watched(iter(range(10)), 10)) == list(range(10))
    assert capsys.readouterr().err == ""
