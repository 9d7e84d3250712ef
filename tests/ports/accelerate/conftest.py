"""The ported projects, made once a session, and the figures that their tests measure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.ports.accelerate.runs import Tree, copied, mended, ported

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


@pytest.fixture(scope="session")
def accelerate(project: Callable[[str], Path]) -> Path:
    return project("accelerate==0.20.3")


@pytest.fixture(scope="session")
def original(accelerate: Path, tmp_path_factory: pytest.TempPathFactory) -> Tree:
    return copied(accelerate, tmp_path_factory.mktemp("original") / "tree")


@pytest.fixture(scope="session")
def port(accelerate: Path, tmp_path_factory: pytest.TempPathFactory) -> Tree:
    return ported(accelerate, tmp_path_factory.mktemp("port") / "tree")


@pytest.fixture(scope="session")
def mended_port(port: Tree, tmp_path_factory: pytest.TempPathFactory) -> Tree:
    return mended(port, tmp_path_factory.mktemp("mended") / "tree")
