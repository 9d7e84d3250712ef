"""The first look at many files: the same answer, whoever takes it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from porter import readers, run
from porter.discover import File
from tests.cli.harness import search

SITE = b"import torch\nx = y.cuda()\n"


def files_in(folder: Path) -> list[File]:
    """Make 120 files, each third one with a site, and one that can't be read; find them."""
    for number in range(120):
        (folder / f"m{number:03}.py").write_bytes(SITE if number % 3 == 0 else b"x = 1\n")
    found = search(folder).files
    (folder / "m060.py").unlink()
    return found


def told(scanned: run.Scan) -> tuple[list[str], int, list[str]]:
    hits = [hit.path.name for hit in scanned.hits]
    return hits, scanned.size, [Path(file.path).name for file in scanned.unreadable]


@pytest.mark.parametrize("jobs", [None, 1, 2, 7])
def test_each_file_is_looked_at_once_and_in_order(tmp_path: Path, jobs: int | None) -> None:
    files = files_in(tmp_path)
    hits = [f"m{n:03}.py" for n in range(0, 120, 3) if n != 60]
    assert told(run.scan(files, jobs)) == (hits, len(hits) * len(SITE), ["m060.py"])


def test_a_worker_that_dies_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = files_in(tmp_path)
    parent, look = os.getpid(), readers.may_have_sites

    def die(data: bytes, kind: str, in_bulk: bool = False) -> bool:
        if os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return look(data, kind, in_bulk)

    expected = told(run.scan(files, 1))
    monkeypatch.setattr(readers, "may_have_sites", die)
    assert told(run.scan(files, 2)) == expected
