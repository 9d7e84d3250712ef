from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.samples import SITE

Python = Callable[..., "subprocess.CompletedProcess[bytes]"]

LOADED = """
import json, sys
{}
print(json.dumps(sorted(sys.modules)))
"""
MAIN = "from porter.__main__ import main\ntry: main({!r})\nexcept SystemExit: pass"
HEAVY = {"torch", "libcst", "rich", "multiprocessing", "asyncio"}


@pytest.fixture
def loaded(python: Python, tmp_path: Path) -> Callable[[str], set[str]]:
    """Return a function that says which modules a program has loaded at its end."""

    def run(program: str) -> set[str]:
        done = python(LOADED.format(program), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return set(json.loads(done.stdout.splitlines()[-1]))

    return run


Loaded = Callable[[str], set[str]]


def test_importing_the_entry_point_loads_nothing_heavy(loaded: Loaded) -> None:
    modules = loaded("import porter.__main__")
    assert not modules & (HEAVY | {"click", "porter.cli", "subprocess"})


def test_importing_the_command_line_loads_click_alone(loaded: Loaded) -> None:
    modules = loaded("import porter.cli")
    assert "click" in modules
    assert not modules & HEAVY


def test_a_run_without_a_hit_does_without_libcst(loaded: Loaded, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"print('hello')\n")
    modules = loaded(MAIN.format(["rewrite", "--jobs", "2", "."]))
    assert not modules & HEAVY


def test_a_rewrite_never_loads_torch_or_the_repository_itself(
    loaded: Loaded, tmp_path: Path
) -> None:
    (tmp_path / "victim.py").write_bytes(b"print('run')\n" + SITE)
    (tmp_path / "sitecustomize_of_victim.py").write_bytes(SITE)
    modules = loaded(MAIN.format(["rewrite", "."]))
    assert {"libcst", "porter.engine.pipeline"} <= modules
    assert not modules & {"torch", "victim", "sitecustomize_of_victim", "rich"}
    assert b"accel.device_type" in (tmp_path / "victim.py").read_bytes()
