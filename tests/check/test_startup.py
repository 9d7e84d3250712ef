"""A file in which there is nothing to find costs hardly more than Python's start."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from porter.check.dismiss import dismiss
from porter.rule import all_rules
from tests.cli.harness import Repository

Python = Callable[..., "subprocess.CompletedProcess[bytes]"]

PROGRAM = """
import sys
before = set(sys.modules)
from porter.__main__ import main
try:
    main(["check", *sys.argv[1:]])
except SystemExit as ended:
    code = ended.code
loaded = sorted(set(sys.modules) - before)
import json
print(json.dumps([code, loaded]))
"""
QUIET_FILES = {
    "a.py": b"import torch\nquiet = torch.pi\n",
    "a.ipynb": b'{"cells": [{"cell_type": "code", "source": ["import torch\\n", "quiet = 1"]}]}',
    "a.yaml": b"device: quiet\n",
    "a.json": b'{"device": "quiet"}',
    "a.toml": b'device = "quiet"\n',
    "a.sh": b"echo quiet\n",
    "Dockerfile": b"FROM quiet\n",
    "requirements.txt": b"quiet\n",
    "setup.cfg": b"[quiet]\n",
}
QUIET = b"import torch\nfrom torch import nn\n\n\ndef f(x):\n    return x + nn.pi\n"


@pytest.fixture
def loaded(python: Python) -> Callable[..., tuple[int, set[str]]]:
    """Return a function that runs a check and returns its exit code and the modules it loaded."""

    def run(*arguments: str, cwd: Path) -> tuple[int, set[str]]:
        done = python(PROGRAM, *arguments, cwd=cwd)
        assert done.returncode == 0, done.stderr
        code, modules = json.loads(done.stdout.splitlines()[-1])
        return code, set(modules)

    return run


@pytest.mark.parametrize("option", ["--all", "--exit-zero", ""])
@pytest.mark.parametrize("name", QUIET_FILES)
def test_it_loads_nothing_but_a_handful_of_its_own(
    loaded: Callable[..., tuple[int, set[str]]], tmp_path: Path, name: str, option: str
) -> None:
    (tmp_path / name).write_bytes(QUIET_FILES[name])
    arguments = [name, option] if option else [name]
    code, modules = loaded(*arguments, cwd=tmp_path)
    assert code == 0
    foreign = {name for name in modules if name.partition(".")[0] != "porter"}
    assert foreign <= {"__future__"}
    assert len(modules) < 18


@pytest.mark.parametrize("name", QUIET_FILES)
def test_a_quiet_file_of_any_kind_is_dismissed(folder: Path, name: str) -> None:
    (folder / name).write_bytes(QUIET_FILES[name])
    assert dismiss([name])
    (folder / name).write_bytes(QUIET_FILES[name].replace(b"quiet", b"cuda"))
    assert not dismiss([name])


def test_data_is_dismissed_unread(folder: Path) -> None:
    path = folder / "data.json"
    path.write_bytes(b'"cuda"' + b" " * 1_000_000)
    path.chmod(0)
    assert dismiss(["data.json"])


def test_a_site_is_not_dismissed(
    loaded: Callable[..., tuple[int, set[str]]], tmp_path: Path
) -> None:
    (tmp_path / "a.py").write_bytes(QUIET)
    (tmp_path / "b.py").write_bytes(b"x.cuda()\n")
    code, modules = loaded("a.py", "b.py", cwd=tmp_path)
    assert code == 1
    assert "libcst" in modules
    assert not modules & {"torch", "multiprocessing", "rich", "asyncio"}


def test_every_example_of_a_finding_gets_the_long_look(folder: Path) -> None:
    path = folder / "a.py"
    for rule in all_rules():
        for text in (*(before for before, _ in rule.rewrites), *rule.manual):
            path.write_text(text)
            assert not dismiss([str(path)]), text


def test_what_is_not_plain_goes_the_long_way(folder: Path) -> None:
    (folder / "a.py").write_bytes(QUIET)
    assert dismiss(["a.py"])
    for arguments in (
        [],
        ["."],
        ["nowhere.py"],
        ["a.py", "--staged"],
        ["--format", "json", "a.py"],
    ):
        assert not dismiss(arguments)
    (folder / "b.py").write_bytes(b"x = 1  # porter: ignore[PTR101]\n")
    assert not dismiss(["a.py", "b.py"])


def test_a_tracked_file_is_dismissed_where_its_staged_content_is_the_same(
    repository: Repository,
) -> None:
    path = repository.write("some folder/größe.py", QUIET)
    os.utime(path, ns=(10**18, 10**18))  # long before the index is written
    repository.write("untracked.py", QUIET)
    repository.git("add", "some folder")
    assert dismiss(["some folder/größe.py"])
    assert dismiss(["untracked.py"])
    path.write_bytes(QUIET + b"# changed\n")
    assert not dismiss(["some folder/größe.py"])
    assert dismiss(["--all", "some folder/größe.py"])


def test_a_staged_site_is_seen_although_the_work_tree_has_none(repository: Repository) -> None:
    path = repository.write("a.py", b"x.cuda()\n")
    repository.git("add", "a.py")
    path.write_bytes(b"x.code()\n")
    assert not dismiss(["a.py"])


@pytest.mark.parametrize(
    "settings", [["update-index", "--index-version", "4"], ["update-index", "--split-index"]]
)
def test_an_index_in_another_form_is_left_to_git(
    repository: Repository, settings: list[str]
) -> None:
    path = repository.write("a.py", QUIET)
    os.utime(path, ns=(10**18, 10**18))
    repository.git("add", "a.py")
    assert dismiss(["a.py"])
    repository.git(*settings)
    assert not dismiss(["a.py"])


def test_work_trees_and_a_hooks_own_index(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = repository.write("a.py", QUIET)
    repository.commit()
    repository.git("worktree", "add", "-q", str(tmp_path / "tree"))
    other = tmp_path / "tree/a.py"
    os.utime(other, ns=(10**18, 10**18))
    subprocess.run(["git", "add", "a.py"], cwd=other.parent, check=True)
    assert dismiss([str(other)])
    other.write_bytes(b"changed = 1\n")
    assert not dismiss([str(other)])

    os.utime(path, ns=(10**18, 10**18))
    repository.git("add", "a.py")
    assert dismiss(["a.py"])
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/other-index")
    repository.git("add", "a.py")
    path.write_bytes(b"x = 1\n")
    assert not dismiss(["a.py"])
