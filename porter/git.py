"""What porter asks git, read-only and without running anything that a repository brings along."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

LINK = "120000"
"""The mode under which git tracks a symbolic link."""
SUBMODULE = "160000"
"""The mode under which git tracks the commit of a submodule."""

# Set in hooks, these point at one repository wherever git is run; the paths decide here.
_REPOSITORY_VARIABLES = frozenset(
    {
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_PREFIX",
        "GIT_COMMON_DIR",
        "GIT_OBJECT_DIRECTORY",
        "GIT_NAMESPACE",
    }
)


class GitError(Exception):
    """Git is missing, or refuses to answer; the text says why."""


def find_root(folder: Path) -> Path | None:
    """Return the nearest folder at or above `folder` that holds a `.git`, None without one."""
    for candidate in (folder, *folder.parents):
        # A gitdir file stands in the place of the folder in submodules and added work trees.
        if os.path.lexists(candidate / ".git"):
            return candidate
    return None


def tracked(folder: Path) -> list[tuple[str, str]]:
    """Return (mode, path relative to `folder`) of each tracked file below it, removed ones too.

    Raises:
        GitError: see there.
    """
    entries = _ask(folder, "ls-files", "-z", "--stage")
    return [(entry[:6], entry.partition("\t")[2]) for entry in entries]


def untracked(folder: Path) -> list[str]:
    """Return the files below `folder` that are neither tracked nor ignored.

    A repository of its own inside `folder` is one entry that ends in a slash.

    Raises:
        GitError: see there.
    """
    return _ask(folder, "ls-files", "-z", "--others", "--exclude-standard")


def ignored(root: Path, paths: Iterable[str]) -> set[str]:
    """Return those of the paths (relative to `root`) that are neither tracked nor to be tracked.

    Raises:
        GitError: see there.
    """
    # The prefix keeps a colon at the front of a name from being read as pathspec magic.
    text = "".join(f"./{path}\0" for path in paths)
    answer = _ask(root, "check-ignore", "-z", "--stdin", stdin=text, allowed=(0, 1))
    return {path.removeprefix("./") for path in answer}


def changes(root: Path, paths: Iterable[str]) -> list[tuple[str, str]]:
    """Return (status, path relative to `root`) of what differs from the last commit.

    The status is git's two letters; "??" stands for untracked. Only files at or below one of
    `paths` (relative to `root`, taken literally) are looked at, and submodules are not.

    Raises:
        GitError: see there.
    """
    entries = _ask(
        root,
        "--literal-pathspecs",
        "status",
        "--porcelain=v1",
        "-z",
        "--no-renames",
        "--untracked-files=all",
        "--ignore-submodules=all",
        "--",
        *paths,
    )
    return [(entry[:2], entry[3:]) for entry in entries]


def _ask(
    folder: Path, *arguments: str, stdin: str = "", allowed: tuple[int, ...] = (0,)
) -> list[str]:
    """Run git in `folder` and return its NUL-separated answer."""
    environment = {k: v for k, v in os.environ.items() if k not in _REPOSITORY_VARIABLES}
    # No lock is taken, so the index stays as it is and a git beside us is not disturbed.
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    # core.fsmonitor names a program that git would run for the repository.
    command = ["git", "-c", "core.fsmonitor=false", *arguments]
    try:
        answer = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            input=os.fsencode(stdin),
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise GitError(f"git can't be run ({error.strerror})") from error
    if answer.returncode not in allowed:
        message = os.fsdecode(answer.stderr).strip().partition("\n")[0]
        raise GitError(f"git refuses to answer ({message})")
    return [os.fsdecode(entry) for entry in answer.stdout.split(b"\0") if entry]
