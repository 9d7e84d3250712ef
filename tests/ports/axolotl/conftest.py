"""axolotl's original and its port, made once a session."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.pages.conftest import browser  # noqa: F401  # a fixture
from tests.ports.axolotl import environment
from tests.ports.axolotl.environment import HERE
from tests.ports.axolotl.porting import ported
from tests.ports.axolotl.runs import Axolotl


@pytest.fixture(scope="session")
def axolotl_python() -> Path:
    if environment.interpreter() is None:
        pytest.skip(f"axolotl's requirements are those of {environment.PYTHON}, which isn't here")
    return environment.python()


@pytest.fixture(scope="session")
def inputs(axolotl_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("axolotl") / "inputs"
    environment.run(str(axolotl_python), str(HERE / "make_inputs.py"), str(folder))
    return folder


def in_folder(tree: Path, python: Path, inputs: Path, folder: Path) -> Axolotl:
    (folder / "runs").mkdir()
    return Axolotl(tree, python, inputs, folder / "runs")


@pytest.fixture(scope="session")
def original(
    axolotl_python: Path, inputs: Path, tmp_path_factory: pytest.TempPathFactory
) -> Axolotl:
    folder = tmp_path_factory.mktemp("axolotl-original")
    tree = shutil.copytree(environment.source(), folder / "tree")
    return in_folder(tree, axolotl_python, inputs, folder)


@pytest.fixture(scope="session")
def port(axolotl_python: Path, inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Axolotl:
    folder = tmp_path_factory.mktemp("axolotl-port")
    tree = ported(environment.source(), folder / "tree")
    return in_folder(tree, axolotl_python, inputs, folder)
