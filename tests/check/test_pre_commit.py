"""The hooks under the real pre-commit, installed from this checkout as users install them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.harness import Repository
from tests.notebooks.notebooks import notebook

ROOT = Path(__file__).parents[2]
PACKAGED = ["porter", "rules", "runtime", "pyproject.toml", "README.md", "LICENSE"]
OLD = b"import torch\n\nold = model.cuda()\n"

Git = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture(scope="session")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, str]:
    """Return a repository with what is checked out here, and its commit."""
    made = Repository(tmp_path_factory.mktemp("porter"))
    for name in [*PACKAGED, ".pre-commit-hooks.yaml"]:
        source = ROOT / name
        if source.is_dir():
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, made.path / name, ignore=ignore)
        else:
            shutil.copy(source, made.path / name)
    made.commit()
    return made, made.git("rev-parse", "HEAD").decode().strip()


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the variables under which git and pre-commit run; hooks are installed once."""
    leave_out = ("GIT_", "PRE_COMMIT", "PYTHONPATH")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(leave_out)}
    name = {f"GIT_{role}_NAME": "Tester" for role in ("AUTHOR", "COMMITTER")}
    mail = {f"GIT_{role}_EMAIL": "tester@example.org" for role in ("AUTHOR", "COMMITTER")}
    home = str(tmp_path_factory.mktemp("pre-commit"))
    return {**kept, **name, **mail, "PRE_COMMIT_HOME": home, "PRE_COMMIT_COLOR": "never"}


@pytest.fixture
def hooked(
    repository: Repository, hooks: tuple[Repository, str], environment: dict[str, str]
) -> Git:
    """Return a function that runs git in a repository with porter's hook."""
    source, commit = hooks
    config = f"repos:\n- repo: {source.path}\n  rev: {commit}\n  hooks:\n  - id: porter-check\n"
    repository.write(".pre-commit-config.yaml", config.encode())
    for kind in ("pre-commit", "pre-push", "pre-merge-commit"):
        subprocess.run(
            [sys.executable, "-m", "pre_commit", "install", "-t", kind],
            cwd=repository.path,
            env=environment,
            check=True,
            capture_output=True,
        )

    def git(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["git", *arguments],
            cwd=repository.path,
            env=environment,
            capture_output=True,
            check=False,
        )

    return git


def commit(git: Git) -> tuple[bool, str]:
    """Commit what is staged; return whether the hooks let it through, and what was said."""
    done = git("commit", "-m", "state")
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == 0 or "porter check" in said, said
    return done.returncode == 0, said


def files(repository: Repository) -> dict[str, bytes]:
    """Return the index, and the files of the work tree."""
    paths = [p for p in repository.path.rglob("*") if p.is_file() and ".git" not in p.parts]
    index = {"index": repository.git("ls-files", "--stage")}
    return index | {str(path): path.read_bytes() for path in sorted(paths)}


def test_new_code_is_held_to_it_and_old_code_is_not(repository: Repository, hooked: Git) -> None:
    repository.write("old name ü.py", OLD)
    hooked("add", "-A")
    passed, said = commit(hooked)  # the first commit of an empty repository: all is new
    assert not passed
    assert "old name ü.py:3:7: PTR101" in said
    hooked("commit", "-n", "-m", "start")

    repository.write("old name ü.py", OLD + b"new = batch.cuda()\n")
    hooked("add", "-A")
    repository.write("old name ü.py", b"unstaged = x.cuda()\n" + OLD + b"new = batch.cuda()\n")
    before = files(repository)
    passed, said = commit(hooked)
    assert not passed
    assert said.count("PTR101") == 1
    assert "old name ü.py:4:7: PTR101" in said
    assert "write batch.to(accel.device_type)" in said
    assert files(repository) == before

    repository.write("old name ü.py", OLD + b"new = batch.to(device)\n")
    hooked("add", "-A")
    passed, said = commit(hooked)
    assert passed, said


def test_notebooks_and_configuration_are_handed_over(repository: Repository, hooked: Git) -> None:
    repository.write("a.ipynb", notebook("import torch\nx.cuda()"))
    repository.write("train.yaml", b"device: cuda\n")
    repository.git("add", "a.ipynb", "train.yaml")
    repository.git("commit", "-q", "-m", "old", "--no-verify")
    repository.write("a.ipynb", notebook("import torch\nx.cuda()\n1", "y.cuda()"))
    repository.write("train.yaml", b"device: cuda\nbackend: nccl\n")
    repository.git("add", "a.ipynb", "train.yaml")
    passed, said = commit(hooked)
    assert not passed
    assert "a.ipynb:cell 2:1:1: PTR101" in said
    assert "a.ipynb:cell 1" not in said
    assert "train.yaml:2:" in said
    assert "train.yaml:1:" not in said


@pytest.mark.slow  # two dozen runs of pre-commit
def test_whatever_git_does(repository: Repository, hooked: Git, tmp_path: Path) -> None:
    filler = b"".join(b"line_%d = %d\n" % (n, n) for n in range(30))
    repository.write("a.py", OLD + filler)
    repository.write("b.py", b"b = 1\n")
    hooked("add", "-A")
    assert hooked("commit", "-n", "-m", "start").returncode == 0
    base = repository.git("rev-parse", "HEAD").decode().strip()

    # Renamed, and only then changed.
    hooked("mv", "a.py", "größe 2.py")
    assert commit(hooked)[0]
    repository.write("größe 2.py", OLD + filler + b"x.cuda()\n")
    hooked("add", "-A")
    passed, said = commit(hooked)
    assert not passed
    assert "größe 2.py:34:1: PTR101" in said
    hooked("reset", "-q", "--hard")

    # Windows line ends.
    hooked("config", "core.autocrlf", "false")
    crlf = (OLD + filler).replace(b"\n", b"\r\n")
    repository.write("größe 2.py", crlf)
    hooked("add", "-A")
    assert commit(hooked)[0]
    repository.write("größe 2.py", crlf + b"x.cuda()\r\n")
    hooked("add", "-A")
    passed, said = commit(hooked)
    assert not passed
    assert "größe 2.py:34:1: PTR101" in said
    hooked("reset", "-q", "--hard")

    # `commit -a`, `commit FILE`, `commit --amend`.
    repository.write("b.py", b"b = x.cuda()\n")
    for arguments in (["-a"], ["b.py"], ["-a", "--amend"]):
        done = hooked("commit", "-m", "state", *arguments)
        assert done.returncode == 1
        assert b"b.py:1:5: PTR101" in done.stdout + done.stderr
    hooked("checkout", "-q", "--", "b.py")
    assert hooked("commit", "--amend", "-m", "another message").returncode == 0

    # A merge brings CUDA along that another branch answers for, and has a conflict.
    hooked("checkout", "-q", "-b", "theirs", base)
    repository.write("b.py", b"b = theirs\n")
    repository.write("c.py", b"c = brought.cuda()\n")
    hooked("add", "-A")
    assert hooked("commit", "-n", "-m", "theirs").returncode == 0
    hooked("checkout", "-q", "-b", "clean", base)
    repository.write("d.py", b"d = 1\n")
    hooked("add", "-A")
    assert commit(hooked)[0]
    done = hooked("merge", "--no-edit", "theirs")  # no conflict: pre-merge-commit
    assert done.returncode == 0, done.stdout + done.stderr
    hooked("checkout", "-q", "-b", "ours", base)
    repository.write("b.py", b"b = ours\n")
    hooked("add", "-A")
    assert commit(hooked)[0]
    assert hooked("merge", "theirs").returncode == 1
    repository.write("b.py", b"b = both.cuda()\n")
    hooked("add", "-A")
    passed, said = commit(hooked)
    assert not passed
    assert "b.py:1:5: PTR101" in said
    assert "c.py" not in said
    repository.write("b.py", b"b = both\n")
    hooked("add", "-A")
    assert commit(hooked)[0]

    # A rebase that stops, on a detached HEAD.
    hooked("checkout", "-q", "-b", "topic", base)
    repository.write("b.py", b"b = topic\n")
    hooked("add", "-A")
    assert commit(hooked)[0]
    assert hooked("rebase", "ours").returncode != 0
    repository.write("b.py", b"b = topic.cuda()\n")
    hooked("add", "-A")
    passed, said = commit(hooked)
    assert not passed
    assert "b.py:1:5: PTR101" in said
    repository.write("b.py", b"b = topic\n")
    hooked("add", "-A")
    assert commit(hooked)[0]
    hooked("-c", "core.editor=true", "rebase", "--continue")
    assert repository.git("show", "topic:b.py") == b"b = topic\n"

    # Many files: pre-commit hands them out in batches that run side by side.
    for number in range(300):
        repository.write(f"many/{'long name ' * 15}{number}.py", b"x = 1\ny = x.cuda()\n")
    hooked("add", "-A")
    passed, said = commit(hooked)
    assert not passed
    assert said.count(": PTR101 ") == 300
    hooked("reset", "-q", "--hard")
    shutil.rmtree(repository.path / "many", ignore_errors=True)

    # An added work tree shares the hooks; a push is judged by what it adds.
    hooked("worktree", "add", "-q", str(tmp_path / "tree"), "-b", "beside", base)
    (tmp_path / "tree/b.py").write_bytes(b"b = beside.cuda()\n")
    hooked("-C", str(tmp_path / "tree"), "add", "-A")
    done = hooked("-C", str(tmp_path / "tree"), "commit", "-m", "beside")
    assert done.returncode == 1
    assert b"b.py:1:5: PTR101" in done.stdout + done.stderr

    remote = tmp_path / "remote"
    subprocess.run(["git", "init", "-q", "--bare", remote], check=True)
    hooked("checkout", "-q", "-B", "main", base)
    hooked("remote", "add", "origin", str(remote))
    assert hooked("push", "-q", "--no-verify", "origin", "main").returncode == 0
    repository.write("b.py", b"b = 1\nc = pushed.cuda()\n")
    hooked("add", "-A")
    assert hooked("commit", "-n", "-m", "past the hook").returncode == 0
    done = hooked("push", "-q", "origin", "main")
    assert done.returncode == 1
    assert b"b.py:2:5: PTR101" in done.stdout + done.stderr
    assert b"a.py" not in done.stdout + done.stderr


@pytest.mark.slow
def test_a_submodule_has_its_own_hook(
    repository: Repository, hooked: Git, environment: dict[str, str], tmp_path: Path
) -> None:
    inner = Repository(tmp_path / "inner")
    inner.write("a.py", OLD)
    inner.commit()
    hooked("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.path), "sub")
    hooked("add", "-A")
    assert commit(hooked)[0]
    place = repository.path / "sub"
    shutil.copy(repository.path / ".pre-commit-config.yaml", place)
    command = [sys.executable, "-m", "pre_commit", "install"]
    subprocess.run(command, cwd=place, env=environment, check=True, capture_output=True)
    (place / "a.py").write_bytes(OLD + b"x.cuda()\n")
    hooked("-C", "sub", "add", "-A")
    done = hooked("-C", "sub", "commit", "-m", "state")
    assert done.returncode == 1
    assert (done.stdout + done.stderr).count(b"PTR101") == 1
    assert b"a.py:4:1: PTR101" in done.stdout + done.stderr


@pytest.mark.slow
def test_the_rewriting_hook_ports_and_stops_the_commit(
    repository: Repository, hooked: Git, environment: dict[str, str]
) -> None:
    config = repository.path / ".pre-commit-config.yaml"
    config.write_bytes(config.read_bytes().replace(b"porter-check", b"porter-rewrite"))
    path = repository.write("a.py", OLD)
    hooked("add", "-A")
    done = hooked("commit", "-m", "state")
    assert done.returncode == 1
    assert b"files were modified by this hook" in done.stdout + done.stderr
    assert b"old = model.to(accel.device_type)\n" in path.read_bytes()
    hooked("add", "-A")
    assert hooked("commit", "-m", "state").returncode == 0
