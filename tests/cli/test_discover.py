from __future__ import annotations

from pathlib import Path

import pytest

from porter import git
from tests.cli.harness import Repository, names, search, skipped


def test_takes_tracked_and_untracked_files_but_not_ignored_ones(repository: Repository) -> None:
    repository.write(".gitignore", b"/out/\n*.gen.py\n")
    for name in ("b.py", "sub/a.py", "kept.gen.py", "notes.txt", "stub.pyi"):
        repository.write(name)
    repository.git("add", "-f", ".")
    for name in ("new.py", "out/a.py", "x.gen.py"):
        repository.write(name)
    found = search(".")
    assert names(found) == ["b.py", "kept.gen.py", "new.py", "sub/a.py"]
    assert all(file.in_git and file.root == repository.path for file in found.files)
    assert found.scopes == {repository.path: ["."]}


def test_names_are_relative_to_the_repository(repository: Repository) -> None:
    repository.write("src/pkg/a.py")
    (file,) = search("src/pkg").files
    assert (str(file.path), file.name) == ("src/pkg/a.py", "src/pkg/a.py")
    (file,) = search(repository.path / "src").files
    assert (file.path, file.name) == (repository.path / "src/pkg/a.py", "src/pkg/a.py")


def test_removed_files_are_passed_over(repository: Repository) -> None:
    gone = repository.write("gone.py")
    repository.write("kept.py")
    repository.commit()
    gone.unlink()
    assert names(search(".")) == ["kept.py"]


def test_a_named_file_is_taken_though_ignored_but_not_though_excluded(
    repository: Repository,
) -> None:
    repository.write(".gitignore", b"*.gen.py\n")
    repository.write("x.gen.py")
    found = search("x.gen.py")
    assert names(found) == ["x.gen.py"]
    assert not found.files[0].in_git
    assert not found.refusals
    assert names(search("x.gen.py", exclude=("*.gen.py",))) == []


@pytest.mark.parametrize("name", [":colon.py", ":(glob)*.py", "*.py", "[a].py", "!a.py", "#.py"])
def test_names_that_mean_something_to_git(repository: Repository, name: str) -> None:
    repository.write(".gitignore", b"/:colon.py\n")
    repository.write(name)
    repository.write("other.py")
    repository.git("add", "-f", ".")
    found = search(name)
    assert names(found) == [name]
    assert found.files[0].in_git
    assert not found.refusals
    assert [path for _, path in git.changes(repository.path, [name])] == [name]


def test_a_named_folder_that_git_ignores_is_walked(repository: Repository) -> None:
    repository.write(".gitignore", b"/scratch/\n")
    repository.write("scratch/sub/a.py")
    found = search("scratch")
    assert names(found) == ["scratch/sub/a.py"]
    assert not found.files[0].in_git
    assert not found.refusals
    assert names(search(".")) == []


def test_each_file_is_taken_once(repository: Repository) -> None:
    repository.write("sub/a.py")
    found = search("sub/a.py", ".", "sub", repository.path, "sub/a.py")
    assert [file.name for file in found.files] == ["sub/a.py"]


@pytest.mark.parametrize("name", ["new\nline.py", 'quote".py', "tab\t.py", "é.py", "b\udcffd.py"])
@pytest.mark.parametrize("tracked", [True, False])
def test_odd_names(repository: Repository, name: str, tracked: bool) -> None:
    repository.write(name)
    if tracked:
        repository.commit()
    assert names(search(".")) == [name]
    assert names(search(name)) == [name]


def test_submodules_and_repositories_inside_are_left(repository: Repository) -> None:
    other = Repository(repository.path.parent / "other")
    other.write("a.py")
    other.commit()
    repository.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other.path))
    repository.commit()
    Repository(repository.path / "nested").write("b.py")
    repository.write("own.py")
    found = search(".")
    assert names(found) == ["own.py"]
    assert set(skipped(found)) == {"nested", "other"}
    assert skipped(search(".", exclude=("nested/", "other"))) == {}
    (file,) = search("other").files
    assert (str(file.path), file.name) == ("other/a.py", "a.py")


def test_hook_variables_do_not_lead_to_another_repository(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("a.py")
    monkeypatch.setenv("GIT_DIR", "/nowhere/.git")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    found = search(".")
    assert names(found) == ["a.py"]
    assert not found.refusals


def test_a_program_that_a_repository_names_is_not_run(repository: Repository) -> None:
    repository.write("a.py")
    hook = repository.write("hook", b"#!/bin/sh\ntouch ran\n")
    hook.chmod(0o755)
    repository.git("config", "core.fsmonitor", str(hook))
    found = search(".")
    git.changes(repository.path, ["."])
    assert names(found) == ["a.py"]
    assert not (repository.path / "ran").exists()


def test_porter_leaves_itself_alone(repository: Repository) -> None:
    repository.write("third_party/porter_runtime/_surface.py")
    repository.write("porter/a.py")  # somebody else's
    assert names(search(".")) == ["porter/a.py"]
    assert search(Path(git.__file__).parent, git.__file__).files == []
