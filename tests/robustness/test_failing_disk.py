"""Reads and writes that fail: in the C library, and on a file system that is really full."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.harness import Repository
from tests.robustness.conftest import Files, Porter, environment

SOURCE = Path(__file__).with_name("failing_calls.c")

Report = dict[str, Any]


@pytest.fixture(scope="session")
def failing_calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the library that makes calls fail."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("needs Linux and a C compiler: apt install gcc")
    path = tmp_path_factory.mktemp("library") / "failing_calls.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Werror", str(SOURCE), "-o"]
    subprocess.run([*command, str(path), "-ldl"], check=True)
    return path


@pytest.fixture
def files(repository: Repository) -> Files:
    made = Files(repository.path, 8)
    repository.commit()
    return made


def check_report(done: subprocess.CompletedProcess[bytes], files: Files) -> dict[str, list[str]]:
    """Hold the report against the files; return the messages of those that failed."""
    assert b"Traceback" not in done.stderr
    report = json.loads(done.stdout)
    by_name = {Path(file["path"]).name: file for file in report["files"]}
    changed = {name for name, file in by_name.items() if file["changed"]}
    assert changed == files.ported()
    assert report["summary"]["changed"] == len(changed)
    messages = {
        name: [f["message"] for f in file["findings"] if f["level"] == "error"]
        for name, file in by_name.items()
    }
    failed = {name: texts for name, texts in messages.items() if texts}
    assert report["summary"]["errors"] == len(failed)
    assert not changed & failed.keys()
    assert changed | failed.keys() == {path.name for path in files.paths}
    rewritten = [f for file in by_name.values() for f in file["findings"]]
    assert report["summary"]["rewritten"] == len(changed)
    assert len([f for f in rewritten if f["level"] == "rewritten"]) == len(changed)
    assert done.returncode == (2 if failed else 0)
    return failed


READING = [
    ("open", errno.EACCES, 1, "1"),
    ("open", errno.EMFILE, 2, "1"),
    ("open", errno.EACCES, 2, "2"),
    ("read", errno.EIO, 1, "1"),
    ("read", errno.EIO, 3, "1"),
    ("read", errno.EIO, 5, "1"),
    ("read", errno.EIO, 1, "2"),
    ("read", errno.EIO, 3, "2"),
]
"""The call, its error, which of the calls, and how many processes.

A file is opened three times, for the first look, for the port and before it is written, and each
time read to the end in two calls. Of two processes one ports, the other writes.
"""

WRITING = [
    ("open", errno.ENOSPC),
    ("write", errno.ENOSPC),
    ("write", errno.EIO),
    ("fsync", errno.EIO),
    ("rename", errno.EACCES),
]
MORE_WRITING = [
    ("open", errno.EACCES),
    ("open", errno.EROFS),
    ("write", errno.EDQUOT),
    ("fchmod", errno.EPERM),
    ("rename", errno.ENOSPC),
    ("rename", errno.EIO),
]


def named(code: int) -> str:
    return errno.errorcode[code]


@pytest.mark.parametrize(
    ("call", "code", "time", "jobs"),
    READING,
    ids=[f"{call}-{named(code)}-{time}-{jobs}" for call, code, time, jobs in READING],
)
def test_a_file_that_cannot_be_read(
    porter: Porter,
    files: Files,
    failing_calls: Path,
    call: str,
    code: int,
    time: int,
    jobs: str,
) -> None:
    done = porter(
        *("rewrite", "--format", "json", "--jobs", jobs, "."),
        cwd=files.paths[0].parent,
        LD_PRELOAD=str(failing_calls),
        FAULTS=f"{call}:{code}:{time}:{time}:victim_003.py",
    )
    failed = check_report(done, files)
    assert list(failed) == ["victim_003.py"]
    assert os.strerror(code) in failed["victim_003.py"][0]
    assert files.others() == set()


@pytest.mark.parametrize(
    ("call", "code"),
    [*WRITING, *(pytest.param(*each, marks=pytest.mark.slow) for each in MORE_WRITING)],
    ids=[f"{call}-{named(code)}" for call, code in (*WRITING, *MORE_WRITING)],
)
def test_a_file_that_cannot_be_written(
    porter: Porter, files: Files, failing_calls: Path, call: str, code: int
) -> None:
    done = porter(
        *("rewrite", "--format", "json", "."),
        cwd=files.paths[0].parent,
        LD_PRELOAD=str(failing_calls),
        FAULTS=f"{call}:{code}:3:4:.porter-",
    )
    failed = check_report(done, files)
    # One file's content may take several writes, and its name several tries.
    assert 1 <= len(failed) <= 2
    for (message,) in failed.values():
        assert message == f"cannot be written: {os.strerror(code)}"
    assert files.others() == set()
    again = porter("rewrite", "--format", "json", "--allow-dirty", ".", cwd=files.paths[0].parent)
    assert json.loads(again.stdout)["summary"]["changed"] == len(failed)
    assert len(files.ported()) == len(files.paths)


def test_everything_fails_from_some_moment_on(
    porter: Porter, files: Files, failing_calls: Path
) -> None:
    """Not even the temporary file can be removed: it stays, and is nobody's source."""
    done = porter(
        *("rewrite", "--format", "json", "."),
        cwd=files.paths[0].parent,
        LD_PRELOAD=str(failing_calls),
        FAULTS=f"fsync:{errno.EIO}:5:99:.porter- unlink:{errno.EIO}:1:99:.porter-",
    )
    assert len(check_report(done, files)) == 4
    left = files.others()
    assert len(left) == 4
    assert all(name.startswith(".porter-") and not name.endswith(".py") for name in left)
    again = porter("rewrite", "--format", "json", "--allow-dirty", ".", cwd=files.paths[0].parent)
    assert json.loads(again.stdout)["summary"]["scanned"] == len(files.paths)
    assert len(files.ported()) == len(files.paths)
    assert files.others() == left


FULL = """
set -e
mount -t tmpfs -o size=2m tmpfs "$PLACE"
cp -a "$REPOSITORY/." "$PLACE"
cd "$PLACE"
left=$(df -k --output=avail . | tail -1)
head -c $((left - 12))k /dev/zero > filler
code=0
"$PYTHON" "$SCRIPT" rewrite --allow-dirty --format json . > "$OUT" || code=$?
rm filler
cp -a "$PLACE/." "$REPOSITORY"
exit $code
"""
"""Fills a file system but for 12 KB, and runs porter there."""


def test_a_disk_that_is_full(tmp_path: Path, repository: Repository, script: Path) -> None:
    """A real one: a file system in memory with room for the small files, not for the large."""
    if subprocess.run(["unshare", "-Urm", "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs user namespaces, to mount a file system")
    files = Files(repository.path, 6)
    big = b"# nothing\n" * 3000
    for path in files.paths[2:4]:
        path.write_bytes(path.read_bytes() + big)
    repository.commit()
    originals = [path.read_bytes() for path in files.paths]
    place = tmp_path / "mounted"
    place.mkdir()
    out = tmp_path / "out"
    variables = environment(
        PYTHON=sys.executable,
        SCRIPT=str(script),
        PLACE=str(place),
        REPOSITORY=str(repository.path),
        OUT=str(out),
    )
    done = subprocess.run(
        ["unshare", "-Urm", "sh", "-c", FULL], env=variables, capture_output=True, check=False
    )
    assert done.returncode == 2, done.stderr
    report = json.loads(out.read_bytes())
    states = {Path(file["path"]).name: file for file in report["files"]}
    for path, original in zip(files.paths, originals, strict=True):
        if original.endswith(big):
            (finding,) = (f for f in states[path.name]["findings"] if f["level"] == "error")
            assert finding["message"] == f"cannot be written: {os.strerror(errno.ENOSPC)}"
            assert path.read_bytes() == original
        else:
            assert states[path.name]["changed"]
            assert b"accel.device_type" in path.read_bytes()
    assert report["summary"]["changed"] == 4
    assert files.others() == set()
