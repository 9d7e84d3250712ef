"""By default only what is staged is judged, in the content that is staged."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from porter import git
from tests.check.conftest import Flagged
from tests.cli.harness import Porter, Repository

OLD = b"import torch\n\nold = model.cuda()\n"
ROOT = Path(__file__).parents[2]


def state(repository: Repository) -> tuple[bytes, dict[str, bytes]]:
    """Return the index's and all files' bytes."""
    files = {
        str(path.relative_to(repository.path)): path.read_bytes()
        for path in sorted(repository.path.rglob("*"))
        if path.is_file() and ".git" not in path.parts
    }
    return (repository.path / ".git/index").read_bytes(), files


def test_a_new_site_is_flagged_and_an_old_one_beside_it_is_not(
    repository: Repository, flagged: Flagged
) -> None:
    repository.write("a.py", OLD)
    repository.commit()
    repository.write("a.py", OLD + b"new = batch.cuda()\n")
    repository.git("add", "a.py")
    assert flagged("a.py") == ["a.py:4 PTR101"]
    assert flagged() == ["a.py:4 PTR101"]
    assert flagged("--all") == ["a.py:3 PTR101", "a.py:4 PTR101"]


def test_only_staged_hunks_of_a_file_count_and_nothing_is_touched(
    repository: Repository, flagged: Flagged
) -> None:
    repository.write("a.py", OLD)
    repository.commit()
    repository.write("a.py", b"staged = batch.cuda()\n" + OLD)
    repository.git("add", "a.py")
    repository.write("a.py", b"unstaged = x.cuda()\nstaged = batch.cuda()\n" + OLD + b"y.cuda()\n")
    before = state(repository)
    assert flagged("a.py") == ["a.py:1 PTR101"]
    assert state(repository) == before


def test_what_was_staged_counts_although_it_is_gone_from_the_work_tree(
    repository: Repository, flagged: Flagged
) -> None:
    repository.write("a.py", b"x.cuda()\n")
    repository.write("b.py", b"y.cuda()\n")
    repository.git("add", "-A")
    repository.write("a.py", b"x = 1\n")
    (repository.path / "b.py").unlink()
    assert flagged("a.py", "b.py") == ["a.py:1 PTR101", "b.py:1 PTR101"]


def test_the_first_commit_of_an_empty_repository(repository: Repository, flagged: Flagged) -> None:
    repository.write("a.py", OLD)
    repository.git("add", "a.py")
    assert flagged("a.py") == ["a.py:3 PTR101"]


def test_nothing_staged_means_everything_unless_only_the_staged_was_asked_for(
    repository: Repository, flagged: Flagged
) -> None:
    repository.write("a.py", OLD)
    repository.commit()
    assert flagged("a.py") == ["a.py:3 PTR101"]
    assert flagged("--staged") == []


def test_something_else_staged_does_not_make_old_sites_new(
    repository: Repository, flagged: Flagged
) -> None:
    repository.write("a.py", OLD)
    repository.commit()
    repository.write("notes.txt", b"call x.cuda()\n")
    repository.git("add", "-A")
    assert flagged() == []


def test_renamed_files_keep_their_past(repository: Repository, flagged: Flagged) -> None:
    filler = b"".join(b"line_%d = %d\n" % (n, n) for n in range(30))
    repository.write("a.py", OLD + filler)
    repository.commit()
    (repository.path / "lib").mkdir()
    repository.git("mv", "a.py", "lib/b.py")
    assert flagged("lib/b.py") == []
    repository.write("lib/b.py", OLD + filler + b"z = y.cuda()\n")
    repository.git("add", "-A")
    assert flagged("lib/b.py") == ["lib/b.py:34 PTR101"]


def test_lines_that_only_moved_right_are_old(repository: Repository, flagged: Flagged) -> None:
    repository.write("a.py", b"x = y.cuda()\nz = 1\n")
    repository.commit()
    repository.write("a.py", b"if ready:\n    x = y.cuda()\n    w = y.cuda()\nz = 1\n")
    repository.git("add", "-A")
    assert flagged("a.py") == ["a.py:3 PTR101"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"    find_unused_parameters=True,\n", []),
        (b"    output_device=rank,\n", ["a.py:2 PTR503"]),
    ],
)
def test_a_call_is_new_where_its_new_line_is_what_would_change(
    repository: Repository, flagged: Flagged, line: bytes, expected: list[str]
) -> None:
    head = b"from torch.nn.parallel import DistributedDataParallel as DDP\n"
    call = b"m = DDP(\n    net,\n    device_ids=[rank],\n"
    repository.write("a.py", head + call + b")\n")
    repository.commit()
    repository.write("a.py", head + call + line + b")\n")
    repository.git("add", "-A")
    found = flagged("a.py")
    assert [each.rpartition("PTR")[0] for each in found] == [
        each.rpartition("PTR")[0] for each in expected
    ]


def test_windows_line_ends(repository: Repository, flagged: Flagged) -> None:
    repository.git("config", "core.autocrlf", "false")
    repository.write("a.py", OLD)
    repository.commit()
    repository.write("a.py", OLD.replace(b"\n", b"\r\n"))
    repository.git("add", "-A")
    assert flagged("a.py") == []
    repository.write("a.py", OLD.replace(b"\n", b"\r\n") + b"new = x.cuda()\r\n")
    repository.git("add", "-A")
    assert flagged("a.py") == ["a.py:4 PTR101"]


def test_lone_carriage_returns_count_as_python_counts(
    repository: Repository, flagged: Flagged
) -> None:
    repository.write("a.py", b"a = 1\rb = x.cuda()\rc = 1\nd = 1\n")
    repository.commit()
    repository.write("a.py", b"a = 1\rb = x.cuda()\rc = 1\ne = 1\rd = y.cuda()\n")
    repository.git("add", "-A")
    assert flagged("a.py") == ["a.py:5 PTR101"]


NAMES = ["with space.py", "größe.py", 'quote".py', "tab\t.py", "a\\b.py", "-dash.py", "新 しい.py"]


def test_names_of_any_kind(repository: Repository, flagged: Flagged) -> None:
    for name in NAMES:
        repository.write(f"some folder/{name}", OLD)
    repository.commit()
    for name in NAMES:
        repository.write(f"some folder/{name}", OLD + b"x.cuda()\n")
    repository.git("add", "-A")
    expected = sorted(f"some folder/{name}:4 PTR101" for name in NAMES)
    assert sorted(flagged()) == expected
    assert sorted(flagged("--", *(f"some folder/{name}" for name in NAMES))) == expected


def test_links_are_no_python(repository: Repository, flagged: Flagged) -> None:
    link = repository.path / "new.py"
    link.symlink_to("../some where/cuda.py")
    repository.write("old.py", b"value = 1\n")
    repository.commit()
    link.unlink()
    link.symlink_to("../else where/cuda.py")
    (repository.path / "old.py").unlink()
    (repository.path / "old.py").symlink_to("not python/cuda.py")
    (repository.path / "third.py").symlink_to("not python/cuda.py")
    repository.git("add", "-A")
    assert flagged("--staged") == []


def test_scripts_without_a_suffix_are_judged_where_they_are_named(
    repository: Repository, flagged: Flagged
) -> None:
    repository.write("train", b"#!/usr/bin/env python3\nx.cuda()\n")
    repository.write("run", b"#!/bin/sh\npython -c 'x.cuda()'\n")
    repository.git("add", "-A")
    assert flagged("train", "run") == ["train:2 PTR101"]


def test_a_users_git_configuration_changes_nothing(
    repository: Repository, flagged: Flagged, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    for setting in (
        "diff.noprefix=true",
        "diff.mnemonicPrefix=true",
        "diff.interHunkContext=9",
        "diff.context=9",
        "diff.renames=false",
        "diff.relative=true",
        "color.ui=always",
        "core.quotePath=false",
        f"diff.external=touch {ran}",
    ):
        repository.git("config", *setting.split("=", 1))
    filler = b"".join(b"line_%d = %d\n" % (n, n) for n in range(30))
    repository.write("größe.py", b"a.cuda()\n" + filler)
    repository.commit()
    repository.git("mv", "größe.py", "maß.py")
    repository.write("maß.py", b"new.cuda()\na.cuda()\nb = 1\n" + filler)
    repository.git("add", "-A")
    assert flagged() == ["maß.py:1 PTR101"]
    assert not ran.exists()


def test_text_that_looks_like_a_patch(repository: Repository, flagged: Flagged) -> None:
    text = b'PATCH = """\n--- a/a.py\n+++ b/other.py\n@@ -1 +1,9 @@\n"""\nx = y.cuda()\n'
    repository.write("a.py", b"".join(b"-- old %d\n" % n for n in range(3)))
    repository.write("b.py", b"z = 1\n")
    repository.commit()
    repository.write("a.py", text)
    repository.write("b.py", b"z = 1\nq.cuda()\n")
    repository.git("add", "-A")
    assert flagged() == ["a.py:6 PTR101", "b.py:2 PTR101"]


def test_a_merge_answers_for_its_own_lines_alone(repository: Repository, flagged: Flagged) -> None:
    repository.write("a.py", b"value = 0\n")
    repository.commit()
    start = repository.git("rev-parse", "HEAD").decode().strip()
    repository.git("checkout", "-q", "-b", "theirs")
    repository.write("a.py", b"value = theirs.cuda()\n")
    repository.write("b.py", b"brought = along.cuda()\n")
    repository.commit()
    repository.git("checkout", "-q", "-b", "ours", start)
    repository.write("a.py", b"value = ours.cuda()\n")
    repository.commit()
    with pytest.raises(subprocess.CalledProcessError):
        repository.git("merge", "theirs")
    repository.write("a.py", b"value = theirs.cuda()\nother = ours.cuda()\nboth = new.cuda()\n")
    repository.git("add", "-A")
    assert flagged() == ["a.py:2 PTR101", "a.py:3 PTR101"]
    repository.write("a.py", b"value = ours.cuda()\n")
    repository.git("add", "-A")
    assert flagged() == []


def test_a_detached_head_is_as_good_as_a_branch(repository: Repository, flagged: Flagged) -> None:
    repository.write("a.py", OLD)
    repository.commit()
    repository.git("checkout", "-q", "--detach")
    repository.write("a.py", OLD + b"x.cuda()\n")
    repository.git("add", "-A")
    assert flagged() == ["a.py:4 PTR101"]


def test_added_work_trees_and_submodules(
    repository: Repository, flagged: Flagged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("a.py", OLD)
    repository.commit()
    repository.git("worktree", "add", "-q", str(tmp_path / "tree"))
    outer = Repository(tmp_path / "outer")
    allow = ("-c", "protocol.file.allow=always")
    outer.git(*allow, "submodule", "add", "-q", str(repository.path), "sub")
    outer.commit()
    for place in (tmp_path / "tree", tmp_path / "outer/sub"):
        (place / "a.py").write_bytes(OLD + b"x.cuda()\n")
        subprocess.run(["git", "add", "-A"], cwd=place, check=True)
        monkeypatch.chdir(place)
        assert flagged("a.py") == ["a.py:4 PTR101"]
    monkeypatch.chdir(outer.path)
    assert flagged("sub/a.py") == ["sub/a.py:4 PTR101"]
    assert flagged("--staged") == []


HOOK = """#!/bin/sh
exec {python} -m porter check --staged
"""


@pytest.fixture
def hooked(repository: Repository) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Return a function that runs git in a repository whose hook is porter, without pre-commit."""
    repository.write("a.py", OLD)
    repository.write("b.py", b"b = 1\n")
    repository.commit()
    hook = repository.write(".git/hooks/pre-commit", HOOK.format(python=sys.executable).encode())
    hook.chmod(0o755)
    paths = os.pathsep.join(str(ROOT / part) for part in (".", "rules", "runtime"))
    who = {f"GIT_{role}_{what}": "tester" for role in ("AUTHOR", "COMMITTER") for what in ("NAME",)}
    who |= {"GIT_AUTHOR_EMAIL": "t@example.org", "GIT_COMMITTER_EMAIL": "t@example.org"}

    def git(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["git", *arguments],
            cwd=repository.path,
            env={**os.environ, **who, "PYTHONPATH": paths, "GIT_EDITOR": "true"},
            capture_output=True,
            check=False,
        )

    return git


def test_commit_all_and_commit_of_a_file_hand_over_their_own_index(
    repository: Repository, hooked: Callable[..., subprocess.CompletedProcess[bytes]]
) -> None:
    repository.write("a.py", OLD + b"x.cuda()\n")
    for arguments in (["-a"], ["a.py"], ["-i", "a.py"]):
        done = hooked("commit", "-q", "-m", "state", *arguments)
        assert done.returncode == 1
        assert b"a.py:4:1: PTR101" in done.stdout + done.stderr
        repository.git("reset", "-q")
    repository.write("b.py", b"b = 2\n")
    assert hooked("commit", "-q", "-m", "state", "b.py").returncode == 0
    assert repository.git("show", "--name-only", "--format=", "HEAD") == b"b.py\n"


def test_amended_and_rebased_commits(
    repository: Repository, hooked: Callable[..., subprocess.CompletedProcess[bytes]]
) -> None:
    assert hooked("commit", "-q", "--amend", "-m", "another message").returncode == 0
    repository.write("b.py", b"b = 2\n")
    assert hooked("commit", "-q", "-a", "--amend", "-m", "old sites are none of it").returncode == 0
    repository.write("b.py", b"b = y.cuda()\n")
    done = hooked("commit", "-q", "-a", "--amend", "-m", "a new one is")
    assert done.returncode == 1
    assert b"b.py:1:5: PTR101" in done.stdout + done.stderr

    repository.git("checkout", "-q", "--", ".")
    repository.git("reset", "-q", "--hard")
    base = repository.git("rev-parse", "HEAD").decode().strip()
    repository.git("checkout", "-q", "-b", "topic")
    repository.write("b.py", b"b = topic\n")
    assert hooked("commit", "-q", "-a", "-m", "topic").returncode == 0
    repository.git("checkout", "-q", "-b", "upstream", base)
    repository.write("b.py", b"b = upstream\n")
    assert hooked("commit", "-q", "-a", "-m", "upstream").returncode == 0
    assert hooked("rebase", "upstream", "topic").returncode != 0
    repository.write("b.py", b"b = both.cuda()\n")
    repository.git("add", "-A")
    done = hooked("commit", "-q", "-m", "topic")  # `rebase --continue` alone runs no hook
    assert done.returncode != 0
    assert b"b.py:1:5: PTR101" in done.stdout + done.stderr
    repository.write("b.py", b"b = both\n")
    repository.git("add", "-A")
    assert hooked("commit", "-q", "-m", "topic").returncode == 0
    assert hooked("rebase", "--continue").returncode == 0
    assert repository.git("show", "HEAD:b.py") == b"b = both\n"


def test_one_bad_file_among_the_staged(repository: Repository, porter: Porter) -> None:
    repository.write("a.py", b"x.cuda(\n")
    repository.write("b.py", b"x.cuda()\n")
    repository.git("add", "-A")
    result = porter("check")
    assert result.code == 2
    assert b"a.py:1:" in result.out
    assert b"b.py:1:1: PTR101" in result.out


def test_large_data_is_not_even_asked_for(
    repository: Repository, flagged: Flagged, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = b'{"device": "cuda"},\n'
    repository.write("data.json", b"[\n" + row * 60_000 + b"{}]\n")
    repository.write("train.json", b'{"device": "cuda"}\n')
    repository.write("large.py", b"x.cuda()\n" + b"#" * 1_000_000)
    repository.write("Dockerfile", b"FROM nvidia/cuda\n")
    repository.git("add", ".")
    answers = []
    run = git._run

    def spy(*arguments: Any, **how: Any) -> bytes:
        answers.append(run(*arguments, **how))
        return answers[-1]

    monkeypatch.setattr(git, "_run", spy)
    found = [entry.partition(" ")[0] for entry in flagged(".", "Dockerfile")]
    assert found == ["Dockerfile:1", "large.py:1", "train.json:1"]
    assert not any(row in answer for answer in answers)
