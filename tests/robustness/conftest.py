"""Fixtures: porter as its console script runs it, and repositories to run it on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.harness import Repository
from tests.cli.samples import PORTED, SITE

ROOT = Path(__file__).resolve().parents[2]

Porter = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture(scope="session")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a script like the one that pip installs for `porter`."""
    path = tmp_path_factory.mktemp("scripts") / "porter"
    path.write_text("import sys\nfrom porter.__main__ import main\nsys.exit(main())\n")
    return path


@pytest.fixture
def porter(script: Path) -> Porter:
    """Return a function that runs a command line in a folder; variables by keyword."""

    def run(
        *arguments: str, cwd: Path, timeout: float = 120, **variables: str
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, str(script), *arguments],
            cwd=cwd,
            env=environment(**variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=timeout,
        )

    return run


def environment(**variables: str) -> dict[str, str]:
    """Return the environment in which Python finds porter."""
    paths = os.pathsep.join(str(ROOT / part) for part in (".", "rules", "runtime"))
    return {**os.environ, "PYTHONPATH": paths, **variables}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Return an empty repository."""
    return Repository(tmp_path / "repository")


class Files:
    """Numbered files, each with a site and with content of its own."""

    def __init__(self, folder: Path, count: int) -> None:
        self.paths = [folder / f"victim_{number:03}.py" for number in range(count)]
        self.reset()

    def reset(self) -> None:
        """Give each file its content from before the port."""
        for number, path in enumerate(self.paths):
            path.write_bytes(self._tail(SITE, number))

    def ported(self) -> set[str]:
        """Return the names of the files that are ported; each of the others is as it was."""
        done = set()
        for number, path in enumerate(self.paths):
            content = path.read_bytes()
            assert content in (self._tail(SITE, number), self._tail(PORTED, number)), path.name
            if content == self._tail(PORTED, number):
                done.add(path.name)
        return done

    def others(self) -> set[str]:
        """Return the names of what else is in the folder, but for git's."""
        here = {path.name for path in self.paths[0].parent.iterdir()}
        return here - {path.name for path in self.paths} - {".git"}

    @staticmethod
    def _tail(text: bytes, number: int) -> bytes:
        return text + b"# %d\n" % number * 50
