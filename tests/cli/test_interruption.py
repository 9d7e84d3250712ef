from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from porter.vendored import NAME
from tests.cli.harness import Repository
from tests.cli.samples import PORTED, SITE

Python = Callable[..., "subprocess.CompletedProcess[bytes]"]

SIGNAL_IN_THE_MIDDLE = """
import os, signal, sys
from porter.__main__ import main

signum, step, calls = int(sys.argv.pop(1)), sys.argv.pop(1), 0
wrapped = getattr(os, step)

def interrupted(*arguments):
    global calls
    calls += 1
    if calls == 3:
        os.killpg(os.getpgrp(), signum)
    return wrapped(*arguments)

setattr(os, step, interrupted)
main(sys.argv[1:])
"""
"""Sends a signal to the process group while the third file is being written."""

LIMITED = """
import resource, sys
from porter.__main__ import main

resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
main(sys.argv[1:])
"""
"""Lets no file grow beyond 20 KB, as a disk would that is full."""


@pytest.fixture
def files(repository: Repository) -> list[Path]:
    made = [repository.write(f"{number:02}.py", SITE) for number in range(12)]
    repository.commit()
    return made


def left_behind(repository: Repository, files: list[Path]) -> set[str]:
    return {p.name for p in repository.path.iterdir()} - {f.name for f in files} - {".git"}


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("step", ["fsync", "fchmod"])
def test_ctrl_c_leaves_whole_files_and_says_how_many_were_written(
    repository: Repository, files: list[Path], python: Python, step: str, jobs: str
) -> None:
    arguments = ("rewrite", "--jobs", jobs, ".")
    done = python(SIGNAL_IN_THE_MIDDLE, "2", step, *arguments, cwd=repository.path)
    assert done.returncode == 130
    contents = [file.read_bytes() for file in files]
    assert contents == [PORTED] * 3 + [SITE] * 9
    assert b"interrupted: 3 files written, each of them whole\n" in done.stderr
    assert b"Traceback" not in done.stderr
    assert left_behind(repository, files) == set()


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_wait_for_the_file_too(
    repository: Repository, files: list[Path], python: Python, signum: signal.Signals
) -> None:
    arguments = ("rewrite", "--jobs", "2", ".")
    done = python(SIGNAL_IN_THE_MIDDLE, str(int(signum)), "fsync", *arguments, cwd=repository.path)
    assert done.returncode == -signum
    assert [file.read_bytes() for file in files] == [PORTED] * 3 + [SITE] * 9
    assert left_behind(repository, files) == set()


def test_ctrl_c_ends_the_workers(repository: Repository, files: list[Path], python: Python) -> None:
    files[0].write_bytes(SITE + b"# first\n")
    repository.commit()
    program = """
import os, sys, time
from porter import engine
from porter.__main__ import main

def slow(data, *, options, only):
    if b"first" in data:
        print(os.getpid(), flush=True)
        os.kill(os.getppid(), 2)
    if data:
        time.sleep(60)

engine.rewrite_source = slow
main(sys.argv[1:])
"""
    done = python(program, "rewrite", "--jobs", "2", ".", cwd=repository.path)
    assert done.returncode == 130
    assert b"interrupted: 0 files written" in done.stderr
    worker = int(re.findall(rb"\d+", done.stdout)[0])
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


def test_ctrl_c_in_a_dry_run(repository: Repository, files: list[Path], python: Python) -> None:
    files[5].write_bytes(SITE + b"# stop\n")
    before = [file.read_bytes() for file in files]
    program = """
import os, sys
from porter import engine
from porter.__main__ import main

rewrite = engine.rewrite_source

def interrupted(data, *, options, only):
    if b"stop" in data:
        os.kill(os.getpid(), 2)
    return rewrite(data, options=options, only=only)

engine.rewrite_source = interrupted
main(sys.argv[1:])
"""
    done = python(program, "rewrite", "--dry-run", ".", cwd=repository.path)
    assert done.returncode == 130
    assert b"interrupted: 0 files written" in done.stderr
    assert [file.read_bytes() for file in files] == before


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_full_disk_leaves_the_old_file_and_the_rest_goes_on(
    repository: Repository, files: list[Path], python: Python, jobs: str
) -> None:
    large = SITE + b"# a long comment\n" * 2000
    files[4].write_bytes(large)
    repository.commit()
    done = python(LIMITED, "rewrite", "--jobs", jobs, ".", cwd=repository.path)
    assert done.returncode == 2
    assert b"04.py:1:1: PTR000 cannot be written: File too large\n" in done.stdout
    contents = [file.read_bytes() for file in files]
    assert contents == [PORTED] * 4 + [large] + [PORTED] * 7
    assert left_behind(repository, files) == set()


def test_nothing_is_ported_when_the_disk_is_too_full_for_the_shim(
    repository: Repository, files: list[Path], python: Python
) -> None:
    package = repository.write("pkg/__init__.py").parent
    repository.commit()
    program = LIMITED.replace("20_000", "400")
    done = python(program, "rewrite", ".", "--vendor", "pkg", cwd=repository.path)
    assert done.returncode == 2
    assert b"the shim can't be copied" in done.stderr
    assert [file.read_bytes() for file in files] == [SITE] * 12
    assert not (package / NAME / "__init__.py").exists()
