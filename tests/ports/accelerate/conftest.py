"""The ported projects, made once a session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.ports.accelerate.runs import Tree, copied, mended, ported


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
