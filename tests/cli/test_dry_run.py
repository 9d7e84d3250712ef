from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.harness import Porter, Repository
from tests.cli.samples import BROKEN, MANUAL, SITE


def test_dry_run_writes_nothing_and_prints_only_the_diff(
    repository: Repository, porter: Porter
) -> None:
    site = repository.write("site.py", SITE)
    repository.write("manual.py", MANUAL)
    done = porter("rewrite", "--dry-run", ".")
    assert site.read_bytes() == SITE
    assert done.out.startswith(b"diff --git a/site.py b/site.py\n--- a/site.py\n")
    assert b"scanned" not in done.out
    assert "manual.py:3:10: PTR" in done.err
    assert "2 files scanned, 1 would change\n1 site to rewrite\n" in done.err


KINDS = {
    "plain.py": SITE,
    "crlf.py": SITE.replace(b"\n", b"\r\n"),
    "cr.py": SITE.replace(b"\n", b"\r"),
    "no-newline.py": SITE.rstrip(b"\n"),
    "bom.py": b"\xef\xbb\xbf" + SITE,
    "latin.py": b"# coding: latin-1\n# \xe9\n" + SITE,
    "form-feed.py": SITE.replace(b"\n\n\n", b"\n\x0c\n\n"),
    "tabs.py": SITE.replace(b"    ", b"\t"),
    "sub/with blank.py": SITE,
    'sub/quo"te.py': SITE,
    "sub/é.py": SITE,
    "sub/raw\udcff.py": SITE,
    "sub/line\nend.py": SITE,
    "left.py": MANUAL,
    "broken.py": BROKEN,
    "undecodable.py": SITE + b"# \xff\n",
    "empty.py": b"",
    "large.py": SITE + b"".join(b"y%d = x.cuda()\n" % n for n in range(1500)),
}


@pytest.mark.parametrize("folder", [".", "sub"])
def test_git_apply_makes_of_the_diff_what_rewrite_does_in_place(
    repository: Repository, porter: Porter, folder: str
) -> None:
    for name, data in KINDS.items():
        repository.write(name, data).chmod(0o755 if "b" in name else 0o644)
    repository.commit()
    diff = porter("rewrite", "--dry-run", folder).out
    assert repository.git("status", "--porcelain") == b""
    porter("rewrite", folder)
    in_place = repository.git("diff", "--binary", "--no-color")
    assert in_place.count(b"diff --git") == diff.count(b"diff --git") > 0
    repository.git("checkout", "-q", ".")
    subprocess.run(["git", "apply"], input=diff, cwd=repository.path, check=True)
    assert repository.git("diff", "--binary", "--no-color") == in_place


def test_the_diff_is_relative_to_the_working_directory_without_a_repository(
    tmp_path: Path, porter: Porter, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/a.py").write_bytes(SITE)
    monkeypatch.chdir(tmp_path)
    done = porter("rewrite", "--dry-run", "project")
    assert done.out.startswith(b"diff --git a/project/a.py b/project/a.py\n")
    assert "relative to" not in done.err
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    done = porter("rewrite", "--dry-run", tmp_path / "project")
    assert done.out.startswith(b"diff --git a/a.py b/a.py\n")
    assert f"relative to {tmp_path / 'project'}\n" in done.err


def test_the_diff_says_where_it_is_to_be_applied(
    repository: Repository, porter: Porter, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("sub/a.py", SITE)
    monkeypatch.chdir(repository.path / "sub")
    done = porter("rewrite", "--dry-run", ".")
    assert done.out.startswith(b"diff --git a/sub/a.py b/sub/a.py\n")
    assert f"paths in the diff are relative to {repository.path}\n" in done.err
