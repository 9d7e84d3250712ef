from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.harness import Porter, Repository
from tests.cli.samples import BROKEN, MANUAL, SITE


@pytest.mark.parametrize("dry_run", [True, False])
def test_json(repository: Repository, porter: Porter, dry_run: bool) -> None:
    repository.write("raw\udcff.py", SITE.replace(b"\n", b"\r\n") + b"# no end")
    repository.write("manual.py", MANUAL)
    repository.write("plain.py", b"")
    Path("link.py").symlink_to("/nowhere/x.py")
    repository.commit()
    plain = porter("rewrite", "--dry-run", ".")
    done = porter("rewrite", ".", "--format", "json", *(["--dry-run"] if dry_run else []))
    assert done.err == ""
    document = json.loads(done.out)
    manual, site = document["files"]
    assert (manual["path"], manual["changed"]) == ("manual.py", False)
    assert os.fsencode(site["path"]) == b"raw\xff.py"
    assert site["changed"]
    (finding,) = [f for f in site["findings"] if f["code"] == "PTR101"]
    assert finding == {
        "code": "PTR101",
        "level": "rewritten",
        "message": finding["message"],
        "line": 5,
        "first_line": 5,
        "column": 12,
        "end_line": 5,
        "end_column": 20,
        "source": "    return x.cuda()",
        "replacement": "x.to(accel.device_type)",
        "cell": None,
    }
    assert document["skipped"] == [
        {"path": "link.py", "reason": "a link to nothing", "failed": False}
    ]
    assert document["summary"]["changed"] == 1
    assert document["summary"]["rewritten"] == 1
    assert list(document["summary"]["manual"].values()) == [1]
    assert (document["version"], document["dry_run"]) == (1, dry_run)
    if dry_run:
        diffs = [file["diff"].encode("utf-8", "surrogateescape") for file in document["files"]]
        assert diffs == [b"", plain.out]
    else:
        assert "diff" not in site


def test_output_is_the_same_for_any_number_of_jobs_and_any_hash_seed(
    repository: Repository,
) -> None:
    for number in range(30):
        repository.write(f"{number % 4}/{number}.py", SITE + MANUAL * (number % 3))
    repository.write("0/broken.py", BROKEN)
    outputs = set()
    for jobs, seed in (("1", "0"), ("1", "7"), ("2", "1"), ("5", "2")):
        done = subprocess.run(
            [sys.executable, "-m", "porter", "rewrite", "--dry-run", "--jobs", jobs, "."],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 2
        assert done.stdout.count(b"diff --git") == 30
        outputs.add((done.stdout, done.stderr))
    assert len(outputs) == 1


def test_paths_that_would_break_a_line_are_quoted(repository: Repository, porter: Porter) -> None:
    repository.write("new\nline.py", MANUAL)
    repository.write("é.py", MANUAL)
    done = porter("rewrite", "--allow-dirty", ".")
    lines = done.out.decode().splitlines()
    assert lines[0].startswith('"new\\nline.py":3:10: PTR')
    assert lines[1].startswith("é.py:3:10: PTR")


def test_a_closed_pipe_ends_the_run_quietly(repository: Repository) -> None:
    repository.write("large.py", SITE + b"".join(b"y%d = x.cuda()\n" % n for n in range(1500)))
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "porter", "rewrite", "--dry-run", "."],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(write)
    assert done.returncode == 141
    assert b"Traceback" not in done.stderr
