"""What porter asks git, read-only and without running anything that a repository brings along."""

from __future__ import annotations

import functools
import io
import os
import subprocess
from collections.abc import Iterable, Sequence
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


_OWN = frozenset({"local", "worktree"})
"""The scopes of configuration that come with a repository."""


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


def matching(root: Path, pathspec: str) -> list[str]:
    """Return the files, tracked or not but not ignored, that a pathspec matches.

    Raises:
        GitError: see there.
    """
    return _ask(
        root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", pathspec
    )


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


def has_staged_changes(root: Path) -> bool:
    """Whether the index differs from the last commit.

    Raises:
        GitError: see there.
    """
    arguments = ("diff", "--cached", "--raw", "--no-renames", "--ignore-submodules=dirty")
    return bool(_run(root, *arguments))


def staged_patch(
    root: Path, pathspecs: Iterable[str], parent: str = "", *, largest: int = 0
) -> bytes:
    """Return what the index adds to a commit: by default the last, else `parent`.

    The patch has no context and takes lines that differ in blanks alone for the same; renamed
    files are compared with what they were.

    Args:
        root: the repository's folder.
        pathspecs: which files.
        parent: a commit.
        largest: bytes beyond which a file's content is left out, 0 for no such limit; with a
            limit, so are files that are binary to git.

    Raises:
        GitError: see there.
    """
    against = ["--cached", *([parent] if parent else [])]
    return _patch(root, against, pathspecs, largest)


def worktree_patch(root: Path, pathspecs: Iterable[str], base: str, *, largest: int = 0) -> bytes:
    """Return what the work tree adds to a commit, as `staged_patch` does.

    Raises:
        GitError: see there.
    """
    return _patch(root, [base], pathspecs, largest)


def _patch(root: Path, against: Sequence[str], pathspecs: Iterable[str], largest: int) -> bytes:
    options = ["--unified=0", "--inter-hunk-context=0", "--ignore-all-space", "--find-renames"]
    options += ["--no-color", "--no-ext-diff", "--no-textconv", "--full-index"]
    options += ["--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=all"]
    settings = ["-c", "diff.relative=false"]
    if largest:
        settings += ["-c", f"core.bigFileThreshold={largest}"]
    else:
        options.append("--text")
    return _run(root, *settings, "diff", *options, *against, "--", *pathspecs)


def renames(root: Path, base: str) -> dict[str, str]:
    """Return, of each file that was renamed since a commit, what it is called and what it was.

    Raises:
        GitError: see there.
    """
    options = ("--name-status", "-z", "--find-renames", "--diff-filter=R", "--no-ext-diff")
    fields = _ask(root, "-c", "diff.relative=false", "diff", *options, base, "--")
    return dict(zip(fields[2::3], fields[1::3], strict=True))


def last_change(root: Path, name: str) -> str:
    """Return the last commit that changed a file, "HEAD" where none did.

    Raises:
        GitError: there is no commit yet; or see there.
    """
    answer = _ask(root, "--literal-pathspecs", "log", "-1", "--format=%H", "-z", "--", name)
    return answer[0].strip() if answer else "HEAD"


def blobs(root: Path, ids: Sequence[str]) -> list[bytes]:
    """Return the content of objects.

    Raises:
        GitError: one isn't there; or see there.
    """
    text = "".join(f"{id_}\n" for id_ in ids)
    answer = io.BytesIO(_run(root, "cat-file", "--batch", stdin=os.fsencode(text)))
    contents = []
    for id_ in ids:
        head = answer.readline().split()
        if len(head) != 3:
            raise GitError(f"git has no object {id_}")
        contents.append(answer.read(int(head[2])))
        answer.read(1)
    return contents


def merge_base(root: Path, revision: str) -> str:
    """Return the commit where the current branch left another revision's.

    Without a common commit, as in a shallow clone, it is the revision itself.

    Raises:
        GitError: there is no such revision; or see there.
    """
    verify = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    commit = _run(root, *verify, allowed=(0, 1, 128)).decode().strip()
    if not commit:
        raise GitError(f"git knows no revision {revision!r}")
    base = _run(root, "merge-base", commit, "HEAD", allowed=(0, 1, 128)).decode().strip()
    return base or commit


def _ask(
    folder: Path, *arguments: str, stdin: str = "", allowed: tuple[int, ...] = (0,)
) -> list[str]:
    """Run git in `folder` and return its NUL-separated answer."""
    answer = _run(folder, *arguments, stdin=os.fsencode(stdin), allowed=allowed)
    return [os.fsdecode(entry) for entry in answer.split(b"\0") if entry]


@functools.lru_cache(maxsize=64)
def _own_tree(folder: Path) -> dict[str, str]:
    """Return variables that keep git from comparing another folder where core.worktree says so.

    In submodules and added work trees, where `.git` is a file, the setting has its use.
    """
    root = find_root(folder)
    if root is None or not (root / ".git").is_dir():
        return {}
    try:
        told = b"worktree" in (root / ".git" / "config").read_bytes().lower()
    except OSError:
        return {}
    return {"GIT_DIR": str(root / ".git"), "GIT_WORK_TREE": str(root)} if told else {}


@functools.lru_cache(maxsize=64)
def _without_filters(folder: Path) -> dict[str, str]:
    """Return variables that switch off the filters of the repository's own configuration.

    Git runs them on files of the work tree, to compare these. Filters of the user's configuration
    (git-lfs for one) stay.
    """
    asked = ("config", "-z", "--includes", "--show-scope", "--name-only", "--get-regexp")
    answer = _ask(folder, *asked, r"^filter\.", allowed=(0, 1, 128, 129))
    own = [key for scope, key in zip(answer[::2], answer[1::2], strict=False) if scope in _OWN]
    first = int(os.environ.get("GIT_CONFIG_COUNT", "0"))  # the user may have given some
    variables = {"GIT_CONFIG_COUNT": str(first + len(own))} if own else {}
    for at, key in enumerate(own, first):
        variables[f"GIT_CONFIG_KEY_{at}"] = key
        variables[f"GIT_CONFIG_VALUE_{at}"] = "false" if key.endswith(".required") else ""
    return variables


def _run(
    folder: Path, *arguments: str, stdin: bytes = b"", allowed: tuple[int, ...] = (0,)
) -> bytes:
    """Run git in `folder` and return its answer."""
    environment = {k: v for k, v in os.environ.items() if k not in _REPOSITORY_VARIABLES}
    # `git commit -a` and `git commit FILE` hand their hooks an index of their own.
    index = os.environ.get("GIT_INDEX_FILE")
    if index and find_root(folder) == find_root(Path(os.path.realpath("."))):
        environment["GIT_INDEX_FILE"] = os.path.realpath(index)
    # No lock is taken, so the index stays as it is and a git beside us is not disturbed.
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    # core.fsmonitor names a program that git would run for the repository.
    command = ["git", "-c", "core.fsmonitor=false", *arguments]
    environment |= _own_tree(folder)
    if not {"status", "diff"}.isdisjoint(arguments) and "--cached" not in arguments:
        environment |= _without_filters(folder)
    try:
        answer = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            input=stdin,
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise GitError(f"git can't be run ({error.strerror})") from error
    if answer.returncode not in allowed:
        message = os.fsdecode(answer.stderr).strip().partition("\n")[0]
        raise GitError(f"git refuses to answer ({message})")
    return answer.stdout
