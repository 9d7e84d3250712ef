"""The figures that tests of the ports measure, printed when all tests are done."""

from __future__ import annotations

from collections.abc import Callable

import pytest

FIGURES = pytest.StashKey[list[str]]()
Figure = Callable[[str], None]


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Figure:
    """Returns a function that notes a line, to be printed when all tests are done."""
    return request.config.stash.setdefault(FIGURES, []).append


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if lines := config.stash.get(FIGURES, []):
        terminalreporter.section("figures (npu and cuda are emulated)")
        for line in lines:
            terminalreporter.write_line(line)
