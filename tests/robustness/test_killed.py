"""`porter rewrite` killed at random moments: each file is whole, and the next run does the rest."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from tests.cli.harness import Repository
from tests.robustness.conftest import Files, Porter, environment


def begin(script: Path, folder: Path, jobs: int) -> subprocess.Popen[bytes]:
    """Begin a rewrite in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, str(script), "rewrite", "--allow-dirty", "--jobs", str(jobs), "."],
        cwd=folder,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def members(group: int) -> list[int]:
    """Return the processes of a group that are alive."""
    listed = subprocess.run(["ps", "-eo", "pid=,pgid=,stat="], capture_output=True, check=True)
    rows = [line.split() for line in listed.stdout.decode().splitlines()]
    return [int(pid) for pid, pgid, state in rows if int(pgid) == group and state[0] != "Z"]


@pytest.mark.parametrize(
    ("count", "kills"),
    [(80, 10), pytest.param(500, 100, marks=pytest.mark.slow)],
    ids=["10 kills", "100 kills"],
)
def test_a_killed_rewrite_leaves_whole_files_and_the_next_one_goes_on(
    repository: Repository, porter: Porter, script: Path, count: int, kills: int
) -> None:
    files = Files(repository.path, count)
    repository.commit()
    random = Random(1)
    in_the_middle = 0
    for kill in range(kills):
        files.reset()
        process = begin(script, repository.path, 1 + kill % 2)
        if kill % 5:
            wait_for_change(random.choice(files.paths), process)
            time.sleep(random.uniform(0, 0.005))
        else:
            time.sleep(random.uniform(0, 0.5))  # it may not have begun to write
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        ported = files.ported()  # each of the files is as it was, or ported
        in_the_middle += 0 < len(ported) < count
        left = files.others()
        assert len(left) <= 1
        assert all(name.startswith(".porter-") and not name.endswith(".py") for name in left)
        if kill % 10 == 0:
            done = porter("rewrite", "--allow-dirty", "--format", "json", ".", cwd=repository.path)
            summary = json.loads(done.stdout)["summary"]
            assert (summary["scanned"], summary["changed"]) == (count, count - len(ported))
            assert len(files.ported()) == count
        for name in left:
            (repository.path / name).unlink()
    print(f"{kills} kills, {in_the_middle} of them while files were written")
    assert in_the_middle > kills // 2


def wait_for_change(path: Path, process: subprocess.Popen[bytes]) -> None:
    """Return when the file has been replaced, or the process has ended."""
    before = path.stat().st_ino
    while path.stat().st_ino == before and process.poll() is None:
        time.sleep(0.0005)


def test_workers_end_when_their_parent_is_killed(repository: Repository, script: Path) -> None:
    files = Files(repository.path, 300)
    repository.commit()
    process = begin(script, repository.path, 2)
    wait_for_change(files.paths[0], process)  # by then the workers are at work
    assert process.poll() is None
    process.kill()
    process.wait()
    for _ in range(100):
        if not members(process.pid):
            break
        time.sleep(0.1)
    assert members(process.pid) == []
    assert 0 < len(files.ported()) < 300
