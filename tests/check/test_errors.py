"""What can't be judged is an error that says what to do."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.harness import Porter, Repository


@pytest.mark.parametrize("arguments", [["--staged"], ["--diff-base", "main"]])
def test_no_repository(folder: Path, porter: Porter, arguments: list[str]) -> None:
    (folder / "a.py").write_bytes(b"x.cuda()\n")
    result = porter("check", *arguments)
    assert result.code == 2
    assert "no git repository" in result.err
    assert "--all" in result.err


def test_outside_of_git_everything_is_judged(folder: Path, porter: Porter) -> None:
    (folder / "a.py").write_bytes(b"x.cuda()\n")
    result = porter("check")
    assert result.code == 1
    assert b"a.py:1:1: PTR101" in result.out


@pytest.mark.parametrize("arguments", [[], ["--staged"], ["--all"], ["--diff-base", "main"]])
def test_a_bare_repository(
    tmp_path: Path, porter: Porter, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "bare"], check=True)
    monkeypatch.chdir(tmp_path / "bare")
    result = porter("check", *arguments)
    assert result.code == 2
    assert "bare" in result.err


@pytest.mark.parametrize("arguments", [[], ["--staged"], ["--diff-base", "main"]])
def test_git_is_missing(
    repository: Repository,
    porter: Porter,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
) -> None:
    repository.write("a.py", b"x.cuda()\n")
    monkeypatch.setenv("PATH", "")
    result = porter("check", *arguments, "a.py")
    assert result.code == 2
    assert "git can't be run" in result.err
    assert porter("check", "--all", "a.py").code == 1


def test_git_refuses(repository: Repository, porter: Porter) -> None:
    repository.write("a.py", b"x.cuda()\n")
    repository.write(".git/config", b"[core\n")
    result = porter("check", "a.py")
    assert result.code == 2
    assert "git refuses to answer" in result.err
    assert "--all" in result.err


def test_an_unreadable_file(folder: Path, porter: Porter) -> None:
    (folder / "a.py").write_bytes(b"import torch\n\nx = '\xe9'.cuda()\n")
    (folder / "b.py").write_bytes(b"x.cuda()\n")
    (folder / "dead.py").symlink_to("nowhere.py")
    result = porter("check", "a.py", "b.py", "dead.py")
    assert result.code == 2
    assert b"a.py:3:" in result.out
    assert b"UTF-8" in result.out
    assert b"b.py:1:1: PTR101" in result.out
    assert b"1 file could not be processed" in result.out


def test_a_file_that_may_not_be_read(
    folder: Path, porter: Porter, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.py").write_bytes(b"x.cuda()\n")
    (folder / "b.py").write_bytes(b"x.cuda()\n")
    read = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "a.py":
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    result = porter("check")
    assert result.code == 2
    assert b"a.py:1:1: PTR000 cannot be read: Permission denied" in result.out
    assert b"b.py:1:1: PTR101" in result.out


def test_a_file_that_is_not_there(folder: Path, porter: Porter) -> None:
    result = porter("check", "nowhere.py")
    assert result.code == 2
    assert "there is no nowhere.py" in result.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--all", "--staged"],
        ["--all", "--diff-base", "main"],
        ["--staged", "--baseline", "b.json"],
        ["--write-baseline"],
        ["--strict-baseline"],
        ["--format", "xml"],
        ["--select", "PTR9"],
    ],
)
def test_options_that_make_no_sense(folder: Path, porter: Porter, arguments: list[str]) -> None:
    result = porter("check", *arguments)
    assert result.code == 2
    assert result.out == b""
    assert result.err


@pytest.mark.parametrize(
    ("table", "hint"),
    [
        ('per-file-ignores = ["PTR1"]', "per-file-ignores"),
        ('per-file-ignores = {"tests/*" = "PTR1"}', "per-file-ignores"),
        ('per-file-ignores = {"tests/*" = ["PTR9"]}', "PTR9"),
        ('per-file-ignores = {"[" = ["PTR1"]}', "["),
        ('per_file_ignores = {"tests/*" = ["PTR1"]}', "per-file-ignores"),
        ("staged = true", "command line"),
        ("baseline = 1", "the path of a file"),
    ],
)
def test_a_configuration_that_makes_no_sense(
    folder: Path, porter: Porter, table: str, hint: str
) -> None:
    (folder / "pyproject.toml").write_text(f"[tool.porter]\n{table}\n")
    for command in ("check", "rewrite"):
        result = porter(command, ".")
        assert result.code == 2
        assert hint in result.err
