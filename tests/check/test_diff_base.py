"""What a branch adds to the commit where it left another one."""

from __future__ import annotations

import pytest

from tests.check.conftest import Flagged
from tests.cli.harness import Porter, Repository

OLD = b"x = y.cuda()\n"


@pytest.fixture
def branch(repository: Repository) -> Repository:
    """Return a repository on a branch with a commit, behind a `main` that went on."""
    repository.git("checkout", "-q", "-b", "main")
    repository.write("a.py", OLD)
    repository.write("b.py", b"b = 1\n")
    repository.commit()
    repository.git("checkout", "-q", "-b", "topic")
    repository.write("a.py", OLD + b"new = z.cuda()\n")
    repository.commit()
    repository.git("checkout", "-q", "main")
    repository.write("b.py", b"theirs = x.cuda()\n")
    repository.commit()
    repository.git("checkout", "-q", "topic")
    return repository


def test_what_the_branch_added_and_not_what_main_did(branch: Repository, flagged: Flagged) -> None:
    assert flagged("--diff-base", "main") == ["a.py:2 PTR101"]
    assert flagged("--diff-base", "main", "b.py") == []
    assert flagged("--diff-base", "HEAD") == []


def test_the_work_tree_is_judged_with_what_git_does_not_track(
    branch: Repository, flagged: Flagged
) -> None:
    branch.write("b.py", b"b = 1\nq.cuda()\n")
    branch.write("untracked.py", b"u.cuda()\n")
    found = flagged("--diff-base", "main")
    assert found == ["a.py:2 PTR101", "b.py:2 PTR101", "untracked.py:1 PTR101"]


def test_staged_changes_do_not_hide_what_was_committed(
    branch: Repository, flagged: Flagged
) -> None:
    branch.write("b.py", b"b = 2\n")
    branch.git("add", "-A")
    assert flagged("--diff-base", "main") == ["a.py:2 PTR101"]


def test_what_is_pushed_is_compared_with_what_is_there(
    branch: Repository, flagged: Flagged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRE_COMMIT_FROM_REF", "main")
    assert flagged("a.py", "b.py") == ["a.py:2 PTR101"]
    assert flagged("--all", "a.py", "b.py") == ["a.py:1 PTR101", "a.py:2 PTR101"]


def test_without_a_common_commit_the_revision_itself_is_compared(
    branch: Repository, flagged: Flagged
) -> None:
    branch.git("checkout", "-q", "--orphan", "alone")
    branch.commit()
    assert flagged("--diff-base", "main") == ["a.py:2 PTR101"]


@pytest.mark.parametrize("revision", ["nowhere", "--all", "", "HEAD:a.py"])
def test_a_revision_that_is_none(branch: Repository, porter: Porter, revision: str) -> None:
    result = porter("check", f"--diff-base={revision}")
    assert result.code == 2
    assert "no revision" in result.err
    assert "fetch" in result.err
