"""The hook's first look: files in which nothing can be found cost little more than Python's start.

No click, no regular expression, no `typing` is imported up to here; whatever is not plain goes
the long way.
"""

from __future__ import annotations

import os
import stat

from porter import kinds, readers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_HARMLESS = frozenset({"--all", "--exit-zero"})
"""Options that change nothing where nothing is found."""

# A file's entry in git's index: 62 bytes, then its name (gitformat-index, versions 2 and 3).
_MTIME, _MTIME_NS, _SIZE, _NAME = 8, 12, 36, 62
_NAME_LENGTH = 0xFFF
_SPLIT = b"link\x00\x00"


def dismiss(arguments: Sequence[str]) -> bool:
    """Whether `porter check` with these arguments would find nothing, as far as is plain to see.

    Args:
        arguments: what stands behind `check` on the command line.
    """
    paths = [argument for argument in arguments if argument not in _HARMLESS]
    return bool(paths) and all(_is_plain(path, "--all" in arguments) for path in paths)


def _is_plain(path: str, judged_as_it_is: bool) -> bool:
    """Whether the path is a file in which there is nothing to find, in git's index neither."""
    if path.startswith("-"):
        return False
    try:
        found = os.stat(path)  # noqa: PTH116  # pathlib takes as long to import as all this
        if not stat.S_ISREG(found.st_mode):
            return False
        kind = kinds.of(path.replace(os.sep, "/"))
        if not kinds.is_data(kind, found.st_size):
            with open(path, "rb") as file:  # noqa: PTH123
                data = file.read()
            kind = kind or kinds.of_script(data) or kinds.PYTHON
            if readers.may_have_sites(data, kind) or b"porter:" in data:
                return False
        return judged_as_it_is or _is_as_staged(os.path.realpath(path), found)
    except OSError:
        return False


def _is_as_staged(path: str, found: os.stat_result) -> bool:
    """Whether git has no other content of this file in its index, going by size and time."""
    top = os.path.dirname(path)  # noqa: PTH120
    while not os.path.lexists(os.path.join(top, ".git")):  # noqa: PTH118
        above = os.path.dirname(top)  # noqa: PTH120
        if above == top:
            return True
        top = above
    index = os.environ.get("GIT_INDEX_FILE") or os.path.join(git_folder(top), "index")  # noqa: PTH118
    if not os.path.exists(index):  # noqa: PTH110
        return True
    with open(index, "rb") as file:  # noqa: PTH123
        data = file.read()
        written = os.fstat(file.fileno()).st_mtime_ns
    if data[:4] != b"DIRC" or data[4:8] not in (b"\0\0\0\2", b"\0\0\0\3") or _SPLIT in data:
        return False
    name = os.fsencode(os.path.relpath(path, top).replace(os.sep, "/"))
    flags = min(len(name), _NAME_LENGTH).to_bytes(2, "big")
    at = data.find(flags + name + b"\0") + len(flags) - _NAME
    if at < 0:
        return name + b"\0" not in data  # untracked, or an entry of another kind
    seconds, nanoseconds = divmod(found.st_mtime_ns, 1_000_000_000)
    return (
        found.st_mtime_ns < written  # else it may have changed since within the clock's tick
        and _number(data, at + _MTIME) == seconds & 0xFFFFFFFF
        and _number(data, at + _MTIME_NS) in (nanoseconds, 0)
        and _number(data, at + _SIZE) == found.st_size & 0xFFFFFFFF
    )


def _number(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "big")


def git_folder(top: str) -> str:
    """Return the folder with a work tree's own state.

    In submodules and added work trees, a file in the place of `.git` names it.

    Raises:
        OSError: it can't be read.
    """
    link = os.path.join(top, ".git")  # noqa: PTH118
    if os.path.isdir(link):  # noqa: PTH112
        return link
    with open(link, "rb") as file:  # noqa: PTH123
        target = os.fsdecode(file.read().strip())
    return os.path.join(top, target.removeprefix("gitdir: "))  # noqa: PTH118
