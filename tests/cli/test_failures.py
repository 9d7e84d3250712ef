from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from porter import engine
from porter.model import Only, Options, Rewrite
from tests.cli.harness import Porter, Repository
from tests.cli.samples import BROKEN, PORTED, SITE


def test_files_that_cannot_be_processed_do_not_stop_the_rest(
    repository: Repository, porter: Porter
) -> None:
    repository.write("a-broken.py", BROKEN)
    locked = repository.write("b-locked.py", SITE)
    site = repository.write("c.py", SITE)
    repository.commit()
    locked.chmod(0o444)
    done = porter("rewrite", ".")
    assert done.code == 2
    assert site.read_bytes() == PORTED
    assert locked.read_bytes() == SITE
    lines = done.out.decode().splitlines()
    assert lines[0].startswith("a-broken.py:2:7: PTR000 cannot be parsed")
    assert lines[1] == "b-locked.py:1:1: PTR000 is read-only; make it writable and run again"
    assert lines[2:4] == ["3 files scanned, 1 changed", "1 site rewritten"]
    assert lines[-1] == "2 files could not be processed"


def test_a_file_that_cannot_be_read_is_told(
    repository: Repository, porter: Porter, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("a.py", SITE)
    site = repository.write("b.py", SITE)
    repository.commit()
    read = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "a.py":
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    done = porter("rewrite", ".")
    assert done.code == 2
    assert b"a.py:1:1: PTR000 cannot be read: Permission denied\n" in done.out
    monkeypatch.undo()
    assert site.read_bytes() == PORTED


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_fault_of_porter_costs_one_file(
    repository: Repository, porter: Porter, monkeypatch: pytest.MonkeyPatch, jobs: str
) -> None:
    rewrite = engine.rewrite_source

    def stumble(data: bytes, *, options: Options, only: Only | None) -> Rewrite:
        if b"stumble" in data:
            raise KeyError("oops")
        return rewrite(data, options=options, only=only)

    repository.write("a.py", SITE + b"# stumble\n")
    site = repository.write("b.py", SITE)
    repository.commit()
    monkeypatch.setattr(engine, "rewrite_source", stumble)
    done = porter("rewrite", "--jobs", jobs, ".")
    assert done.code == 2
    assert b"PTR000 a fault of porter's own, please report it: KeyError('oops') in" in done.out
    assert site.read_bytes() == PORTED


def test_a_worker_that_dies_costs_one_file(
    repository: Repository, porter: Porter, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewrite = engine.rewrite_source

    def die(data: bytes, *, options: Options, only: Only | None) -> Rewrite:
        if b"die" in data:
            os.kill(os.getpid(), signal.SIGKILL)
        return rewrite(data, options=options, only=only)

    files = [repository.write(f"{letter}.py", SITE) for letter in "abcd"]
    deadly = SITE + b"# die\n"
    files[1].write_bytes(deadly)
    repository.commit()
    monkeypatch.setattr(engine, "rewrite_source", die)
    done = porter("rewrite", "--jobs", "2", ".")
    assert done.code == 2
    assert b"b.py:1:1: PTR000 the process that worked on it ended by signal 9" in done.out
    assert [file.read_bytes() for file in files] == [PORTED, deadly, PORTED, PORTED]
