from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.harness import Repository, names, search, skipped, touch


def test_walk_passes_over_junk(folder: Path) -> None:
    touch(folder / "b.py", folder / "sub/a.py", folder / "data.txt")
    for junk in ("__pycache__", "node_modules", ".venv", "build", "x.egg-info", ".tox"):
        touch(folder / junk / "junk.py")
    touch(folder / "my-env/pyvenv.cfg", folder / "my-env/lib/junk.py")
    found = search(".")
    assert names(found) == ["b.py", "sub/a.py"]
    assert not any(file.in_git for file in found.files)
    assert names(search("build")) == ["build/junk.py"]  # asked for by name


def test_walk_leaves_repositories_to_git(folder: Path) -> None:
    touch(folder / "loose.py")
    inner = Repository(folder / "work/inner")
    inner.write(".gitignore", b"out/\n")
    inner.write("a.py")
    inner.write("out/b.py")
    found = search(".")
    assert [(str(f.path), f.name, f.in_git) for f in found.files] == [
        ("loose.py", "loose.py", False),
        ("work/inner/a.py", "a.py", True),
    ]


def test_without_git_all_files_are_taken_with_a_note(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("a.py")
    monkeypatch.setenv("PATH", "")
    found = search(".")
    assert names(found) == ["a.py"]
    assert not found.files[0].in_git
    assert "git can't be run" in found.refusals[0]


def test_a_bare_repository_and_a_broken_one_are_walked(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = Repository(folder / "bare.git")
    bare.git("config", "core.bare", "true")
    bare.write("a.py")
    found = search("bare.git")
    assert names(found) == ["bare.git/a.py"]
    assert "git refuses to answer" in found.refusals[0]
    touch(folder / "broken/a.py")
    (folder / "broken/.git").write_text("gitdir: /nowhere")
    assert names(search("broken")) == ["broken/a.py"]


@pytest.mark.parametrize("in_git", [True, False])
def test_links(in_git: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    outside = tmp_path / "outside"
    touch(project / "sub/a.py", project / "script", outside / "b.py", outside / "data/c.py")
    (project / "script").write_bytes(b"#!/usr/bin/env python3\n")
    if in_git:
        Repository(project)
    monkeypatch.chdir(project)
    Path("twin.py").symlink_to("sub/a.py")
    Path("sub/tool.py").symlink_to("../script")
    Path("out.py").symlink_to(outside / "b.py")
    Path("lost.py").symlink_to("nothing.py")
    Path("folder").symlink_to("sub")
    Path("data").symlink_to(outside / "data")
    Path("readme").symlink_to(outside / "b.py")
    if in_git:
        Repository(project).commit()
    found = search(".")
    assert names(found) == ["script", "sub/a.py"]
    assert set(skipped(found)) == {"data", "lost.py", "out.py"}
    assert names(search("twin.py")) == ["sub/a.py"]
    assert names(search("out.py")) == []
    assert names(search("folder/a.py", "sub")) == ["sub/a.py"]


def test_files_behind_a_folder_that_became_a_link_are_left(
    repository: Repository, tmp_path: Path
) -> None:
    repository.write("sub/a.py")
    repository.commit()
    (repository.path / "sub").rename(tmp_path / "moved")
    (repository.path / "sub").symlink_to(tmp_path / "moved")
    found = search(".")
    assert names(found) == []
    assert "sub/a.py" in skipped(found)


def test_what_is_of_no_kind_is_skipped(repository: Repository) -> None:
    os.mkfifo("pipe.py")
    repository.write("notes.txt", b"cuda\n")
    repository.write("tool.rb", b"#!/usr/bin/python3\n")
    repository.write("perl", b"#!/usr/bin/perl\n")
    found = search(".", "pipe.py", "notes.txt", "tool.rb", "perl")
    assert names(found) == []
    assert set(skipped(found)) == {"pipe.py", "notes.txt", "tool.rb", "perl"}


def test_each_file_has_its_kind(repository: Repository) -> None:
    for name in ("a.py", "b.ipynb", "c.yml", "d.json", "Dockerfile", "requirements-gpu.txt"):
        repository.write(name)
    repository.write("poetry.lock")
    repository.write("package-lock.json")
    repository.write("tool", b"#!/usr/bin/env python3\n")
    repository.write("train", b"#!/bin/bash -e\n")
    found = search(".", "tool", "train")
    assert {file.name: file.kind for file in found.files} == {
        "a.py": "python",
        "b.ipynb": "notebook",
        "c.yml": "yaml",
        "d.json": "json",
        "Dockerfile": "dockerfile",
        "requirements-gpu.txt": "requirements",
        "tool": "python",
        "train": "shell",
    }


@pytest.mark.parametrize("tracked", [True, False])
def test_what_is_too_large_for_configuration_is_data(repository: Repository, tracked: bool) -> None:
    repository.write("data.json", b"[" + b"0," * 500_000 + b"0]")
    repository.write("large.py", b"#" * 1_000_001)
    if tracked:
        repository.commit()
    assert names(search(".")) == ["large.py"]
    found = search("data.json")
    assert names(found) == []
    assert skipped(found) == {"data.json": "too large to be configuration"}


def test_a_folder_that_cannot_be_read_is_a_failure(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touch(folder / "open.py", folder / "closed/a.py")
    scandir = os.scandir

    def refuse(path: str) -> object:
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    found = search(".")
    assert names(found) == ["open.py"]
    assert [(item.path, item.failed) for item in found.skipped] == [("closed", True)]
