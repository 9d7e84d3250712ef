from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.harness import Porter, Repository
from tests.cli.samples import PORTED, SITE


def test_uncommitted_changes_are_refused(repository: Repository, porter: Porter) -> None:
    site = repository.write("src/a.py", SITE)
    notes = repository.write("src/notes.txt", b"old")
    repository.write("elsewhere.txt", b"old")
    repository.commit()
    repository.write("elsewhere.txt", b"new")
    notes.write_bytes(b"new")
    done = porter("rewrite", "src")
    assert (done.code, done.out) == (2, b"")
    assert "src/notes.txt" in done.err
    assert "elsewhere.txt" not in done.err
    assert "--allow-dirty" in done.err
    assert site.read_bytes() == SITE
    assert porter("rewrite", "--dry-run", "src").code == 0
    assert porter("rewrite", "--allow-dirty", "src").code == 0
    assert site.read_bytes() == PORTED


@pytest.mark.parametrize("state", ["untracked", "staged"])
def test_files_that_git_could_not_bring_back_are_refused(
    repository: Repository, porter: Porter, state: str
) -> None:
    repository.commit()
    site = repository.write("a.py", SITE)
    repository.write("untracked.txt")
    if state == "staged":
        repository.git("add", "a.py")
    done = porter("rewrite", ".")
    assert done.code == 2
    assert "a.py\n" in done.err
    assert "untracked.txt" not in done.err
    assert site.read_bytes() == SITE


def test_many_uncommitted_files_are_counted(repository: Repository, porter: Porter) -> None:
    for number in range(8):
        repository.write(f"{number}.py", SITE)
    done = porter("rewrite", ".")
    assert "4.py\n  and 3 more\n" in done.err


@pytest.mark.parametrize("path", [".", "a.py"])
def test_a_repository_that_git_cannot_tell_about_is_refused(
    repository: Repository, porter: Porter, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    site = repository.write("a.py", SITE)
    repository.commit()
    monkeypatch.setenv("PATH", "")
    done = porter("rewrite", path)
    assert (done.code, done.out) == (2, b"")
    assert "git can't be run (No such file or directory): what is uncommitted" in done.err
    assert site.read_bytes() == SITE
    assert porter("rewrite", "--dry-run", path).code == 0
    done = porter("rewrite", "--allow-dirty", path)
    assert done.code == 0
    assert "note: no git can undo changes to 1 of the files, a.py for one\n" in done.err
    assert site.read_bytes() == PORTED


@pytest.mark.parametrize("ignored", [True, False])
def test_where_no_git_helps_there_is_a_note(
    tmp_path: Path, porter: Porter, monkeypatch: pytest.MonkeyPatch, ignored: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    if ignored:
        Repository(tmp_path).write(".gitignore", b"*\n")
    (tmp_path / "a.py").write_bytes(SITE)
    done = porter("rewrite", "a.py")
    assert done.code == 0
    assert done.err == "note: no git can undo changes to 1 of the files, a.py for one\n"
    assert (tmp_path / "a.py").read_bytes() == PORTED
