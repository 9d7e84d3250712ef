from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import porter

ROOT = Path(__file__).parents[2]
SOURCES = {
    "porter": ROOT / "porter",
    "porter_rules": ROOT / "rules/porter_rules",
    "porter_runtime": ROOT / "runtime/porter_runtime",
}


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build both from the sources, in this environment: no network is needed."""
    pytest.importorskip("build")
    pytest.importorskip("hatchling")
    out = tmp_path_factory.mktemp("dist")
    # The wheel is made from the sdist, as it is for whoever installs from source.
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT],
        check=True,
        capture_output=True,
    )
    return out


@pytest.fixture(scope="module")
def wheel(distributions: Path) -> list[str]:
    (path,) = distributions.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        return archive.namelist()


@pytest.fixture(scope="module")
def sdist(distributions: Path) -> list[str]:
    (path,) = distributions.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        return [name.partition("/")[2] for name in archive.getnames()]


def source_files(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_wheel_holds_three_packages_and_nothing_else_at_the_top(wheel: list[str]) -> None:
    info = f"porter_codemod-{porter.__version__}.dist-info"
    assert {name.partition("/")[0] for name in wheel} == {*SOURCES, info}


@pytest.mark.parametrize("package", SOURCES)
def test_the_wheel_holds_every_file_of_each_package(wheel: list[str], package: str) -> None:
    packed = {name.partition("/")[2] for name in wheel if name.startswith(f"{package}/")}
    assert packed == source_files(SOURCES[package])
    assert "py.typed" in packed


def test_the_sdist_holds_what_builds_tests_and_explains(sdist: list[str]) -> None:
    wanted = {"pyproject.toml", "README.md", "LICENSE", "PKG-INFO"}
    for folder in ("porter", "rules", "runtime", "tests"):
        wanted |= {f"{folder}/{name}" for name in source_files(ROOT / folder)}
    assert wanted <= set(sdist)


def test_the_sdist_holds_no_leftovers(sdist: list[str]) -> None:
    leftovers = ("__pycache__", ".pyc", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".git/")
    assert [name for name in sdist if any(each in name for each in leftovers)] == []


def test_the_static_half_imports_without_torch() -> None:
    program = """
import sys
sys.modules["torch"] = None  # importing it would raise
import pkgutil, importlib, porter.commands, porter.engine, porter_rules
for package in (porter, porter.commands, porter.engine, porter_rules):
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        if module.name not in ("porter.__main__", "porter.emulated"):
            importlib.import_module(module.name)
from porter.rule import all_rules
from porter.engine import rewrite_source
print(len(all_rules()), rewrite_source(b"import torch\\nx.cuda()\\n").output.decode())
"""
    path = ":".join(str(source.parent) for source in SOURCES.values())
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": path},
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "x.to(accel.device_type)" in done.stdout
