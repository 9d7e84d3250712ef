"""The baseline: what was there when a project began to be checked."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.check.conftest import Flagged
from tests.cli.harness import Porter, Repository

BASE = ("--baseline", "base.json")
Report = Callable[..., Any]


@pytest.fixture
def base(repository: Repository, porter: Porter) -> Repository:
    """Return a repository with two old sites and a baseline that holds them."""
    repository.write("a.py", b"x = y.cuda()\n")
    repository.write("lib/b.py", b"import torch\nh = torch.cuda.cudart()\n")
    assert porter("check", *BASE, "--write-baseline").code == 0
    repository.commit()
    return repository


def test_it_is_small_and_readable(base: Repository) -> None:
    assert json.loads((base.path / "base.json").read_bytes()) == {
        "version": 1,
        "files": {
            "a.py": [{"code": "PTR101", "source": "x = y.cuda()", "count": 1}],
            "lib/b.py": [{"code": "PTR202", "source": "h = torch.cuda.cudart()", "count": 1}],
        },
    }


def test_what_it_holds_is_known(base: Repository, report: Report) -> None:
    document = report(*BASE)
    assert document["scope"] == "baseline"
    assert document["summary"]["findings"] == 0
    assert document["summary"]["known"] == 2


def test_lines_may_move_and_be_indented_anew(base: Repository, flagged: Flagged) -> None:
    base.write("a.py", b"# one\n# two\nif ready:\n    x = y.cuda()\n")
    assert flagged(*BASE, "a.py") == []


def test_a_second_one_like_it_is_new(base: Repository, flagged: Flagged) -> None:
    base.write("a.py", b"# one\n# two\nx = y.cuda()\nx = y.cuda()\n")
    assert flagged(*BASE, "a.py") == ["a.py:4 PTR101"]


def test_the_same_line_elsewhere_is_new(base: Repository, flagged: Flagged) -> None:
    base.write("c.py", b"x = y.cuda()\n")
    assert flagged(*BASE) == ["c.py:1 PTR101"]


def test_two_sites_on_a_line_are_two(repository: Repository, porter: Porter) -> None:
    repository.write("a.py", b"f(x.cuda(), y.cuda())\n")
    porter("check", *BASE, "--write-baseline")
    entries = json.loads((repository.path / "base.json").read_bytes())["files"]["a.py"]
    assert entries == [{"code": "PTR101", "source": "f(x.cuda(), y.cuda())", "count": 2}]


def test_renamed_files_are_known_by_git(base: Repository, flagged: Flagged) -> None:
    (base.path / "new").mkdir()
    base.git("mv", "a.py", "new/größe.py")
    assert flagged(*BASE) == []
    base.commit()
    base.write("other.py", b"o = 1\n")
    base.commit()
    assert flagged(*BASE) == []
    assert flagged(*BASE, "new/größe.py") == []
    base.write("new/größe.py", b"x = y.cuda()\nz = y.cuda()\n")
    assert flagged(*BASE) == ["new/größe.py:2 PTR101"]


def test_a_copy_is_not_a_renamed_file(base: Repository, flagged: Flagged) -> None:
    base.write("copy.py", (base.path / "a.py").read_bytes())
    base.git("add", "-A")
    assert flagged(*BASE) == ["copy.py:1 PTR101"]


def test_it_only_shrinks(base: Repository, porter: Porter, flagged: Flagged) -> None:
    base.write("a.py", b"x = 1\nnew = z.cuda()\n")
    result = porter("check", *BASE, "--write-baseline")
    assert result.code == 1
    assert b"a.py:2:7: PTR101" in result.out
    files = json.loads((base.path / "base.json").read_bytes())["files"]
    assert list(files) == ["lib/b.py"]
    assert flagged(*BASE) == ["a.py:2 PTR101"]


def test_a_part_of_a_run_leaves_the_rest_of_it_alone(base: Repository, porter: Porter) -> None:
    before = (base.path / "base.json").read_bytes()
    base.write("lib/b.py", b"h = 1\n")
    assert porter("check", *BASE, "--write-baseline", "a.py").code == 0
    assert porter("check", *BASE, "--write-baseline", "--select", "PTR101").code == 0
    assert (base.path / "base.json").read_bytes() == before


def test_strict_fails_on_what_is_gone(base: Repository, porter: Porter, report: Report) -> None:
    assert porter("check", *BASE, "--strict-baseline").code == 0
    base.write("a.py", b"x = 1\n")
    (base.path / "lib/b.py").unlink()
    assert porter("check", *BASE).code == 0
    result = porter("check", *BASE, "--strict-baseline")
    assert result.code == 1
    assert b"stale: a.py: PTR101 x = y.cuda()" in result.out
    assert b"stale: lib/b.py: PTR202 h = torch.cuda.cudart()" in result.out
    assert report(*BASE, "--strict-baseline", "a.py")["stale"] == [
        {"path": "a.py", "code": "PTR101", "source": "x = y.cuda()", "count": 1}
    ]
    assert porter("check", *BASE, "--strict-baseline", "--exit-zero").code == 0
    assert porter("check", *BASE, "--write-baseline").code == 0
    assert porter("check", *BASE, "--strict-baseline").code == 0


def test_a_file_that_fails_has_no_stale_entries(base: Repository, porter: Porter) -> None:
    base.write("a.py", b"x = y.cuda(\n")
    result = porter("check", *BASE, "--strict-baseline")
    assert result.code == 2
    assert b"stale" not in result.out
    assert porter("check", *BASE, "--write-baseline").code == 2
    assert "a.py" in json.loads((base.path / "base.json").read_bytes())["files"]


def test_it_can_stand_in_the_configuration(
    base: Repository, flagged: Flagged, monkeypatch: pytest.MonkeyPatch
) -> None:
    base.write("pyproject.toml", b'[tool.porter]\nbaseline = "base.json"\n')
    base.write("a.py", b"x = y.cuda()\nnew = z.cuda()\n")
    assert flagged() == ["a.py:2 PTR101"]
    assert len(flagged("--all")) == 3
    base.git("add", "a.py")
    assert flagged("--staged") == ["a.py:2 PTR101"]
    monkeypatch.chdir(base.path / "lib")
    assert flagged("b.py", "../a.py") == ["../a.py:2 PTR101"]


def test_names_that_no_encoding_has(repository: Repository, porter: Porter) -> None:
    (repository.path / os.fsdecode(b"\xff.py")).write_bytes(b"x = y.cuda()\n")
    assert porter("check", *BASE, "--write-baseline").code == 0
    assert porter("check", *BASE).code == 0


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b'{"version": 2, "files": {}}',
        b'{"version": 1}',
        b'{"version": 1, "files": {"a.py": [{"code": "PTR101"}]}}',
        b'{"version": 1, "files": {"a.py": [{"code": "P", "source": "x", "count": "2"}]}}',
        b'{"version": 1, "files": {"a.py": [{"code": "P", "source": "x", "count": 0}]}}',
        b'<<<<<<< HEAD\n{"version": 1}\n',
        b"[" * 100_000,
    ],
)
def test_a_bad_one_is_an_error_that_names_it(
    base: Repository, porter: Porter, content: bytes
) -> None:
    base.write("base.json", content)
    for more in ((), ("--write-baseline",)):
        result = porter("check", *BASE, *more)
        assert result.code == 2
        assert "base.json" in result.err
        assert "--write-baseline" in result.err
        assert (base.path / "base.json").read_bytes() == content


def test_a_missing_one_is_an_error_that_says_how_to_make_it(
    repository: Repository, porter: Porter
) -> None:
    result = porter("check", *BASE)
    assert result.code == 2
    assert "--write-baseline" in result.err


def test_one_that_cannot_be_written(repository: Repository, porter: Porter, tmp_path: Path) -> None:
    repository.write("a.py", b"x = y.cuda()\n")
    result = porter("check", "--baseline", "nowhere/base.json", "--write-baseline")
    assert result.code == 2
    assert "can't be written" in result.err
