"""Which lines are new: git's patches, read for what they add."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from porter import git, kinds
from porter.check.dismiss import git_folder

_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_JSON = b".json"
_NOTEBOOK = b".ipynb"
_COMMA = re.compile(rb",?\s*$")
_LINK = git.LINK.encode("ascii")
_HEAD = "GITHEAD_"
_LETTERS = {b"a": 7, b"b": 8, b"t": 9, b"n": 10, b"v": 11, b"f": 12, b"r": 13}


@dataclass(frozen=True)
class Added:
    """What was added to one file: `name` is relative to the root, `lines` are git's, ascending.

    `blob` is the object that holds the file's new content, where that is in git, `old` the one
    with the old content, all zeros where there is none.
    """

    name: bytes
    blob: str
    lines: tuple[range, ...]
    old: str = ""


def staged(root: Path, scripts: Sequence[str] = ()) -> list[Added]:
    """Return what the index adds to the last commit, to all its parents-to-be in a merge.

    What a merge brings along stands in one of the parents already.

    Args:
        root: the repository's folder.
        scripts: pathspecs of files whose names don't tell their kind.

    Raises:
        git.GitError: see there.
    """
    result = _staged(root, scripts)
    for parent in _merged(root):
        other = {a.name: a for a in _staged(root, scripts, parent)}
        result = [
            replace(a, lines=tuple(_common(a.lines, other[a.name].lines)))
            for a in result
            if a.name in other
        ]
    return result


def _staged(root: Path, scripts: Sequence[str], parent: str = "") -> list[Added]:
    def contents(notebooks: Sequence[Added]) -> list[bytes]:
        return git.blobs(root, [notebook.blob for notebook in notebooks])

    def patch(pathspecs: Sequence[str], largest: int) -> bytes:
        return git.staged_patch(root, pathspecs, parent, largest=largest)

    return _by_code(root, _patched(patch, scripts), contents)


def since(root: Path, base: str, scripts: Sequence[str] = ()) -> list[Added]:
    """Return what the work tree adds to a commit; `scripts` is as for `staged`.

    Raises:
        git.GitError: see there.
    """

    def contents(notebooks: Sequence[Added]) -> list[bytes]:
        return [(root / os.fsdecode(notebook.name)).read_bytes() for notebook in notebooks]

    def patch(pathspecs: Sequence[str], largest: int) -> bytes:
        return git.worktree_patch(root, pathspecs, base, largest=largest)

    return _by_code(root, _patched(patch, scripts), contents)


def _patched(
    patch: Callable[[Sequence[str], int], bytes], scripts: Sequence[str]
) -> Iterator[Added]:
    """Yield what was added to code, whatever its size, and to configuration."""
    yield from parse(patch([*kinds.CODE_PATHSPECS, *scripts], 0))
    yield from parse(patch(kinds.CONFIGURATION_PATHSPECS, kinds.LARGEST_CONFIGURATION))


def _by_code(
    root: Path, found: Iterable[Added], contents: Callable[[Sequence[Added]], list[bytes]]
) -> list[Added]:
    """Let the code of notebooks decide which of their lines are new, not their JSON text.

    Args:
        root: the repository's folder.
        found: what was added.
        contents: returns the new contents of files.
    """
    result = list(found)
    places = [
        at
        for at, each in enumerate(result)
        if each.name.endswith(_NOTEBOOK) and each.old.strip("0")
    ]
    if not places:
        return result
    from porter.notebooks import new_lines

    notebooks = [result[at] for at in places]
    before = git.blobs(root, [notebook.old for notebook in notebooks])
    with contextlib.suppress(OSError):  # whoever judges it will say that it can't be read
        for at, old, new in zip(places, before, contents(notebooks), strict=True):
            lines = new_lines(old, new)
            if lines is not None:
                result[at] = replace(result[at], lines=tuple(lines))
    return result


def _merged(root: Path) -> list[str]:
    """Return the commits that are being merged."""
    try:
        return Path(git_folder(str(root)), "MERGE_HEAD").read_text("ascii").split()
    except OSError:
        pass
    # To the hook pre-merge-commit git tells them only so.
    if root != git.find_root(Path(os.path.realpath("."))):
        return []
    if os.environ.get("GIT_REFLOG_ACTION", "").startswith(("merge ", "pull ")):
        return [name.removeprefix(_HEAD) for name in os.environ if name.startswith(_HEAD)]
    return []


def _common(one: Iterable[range], other: Sequence[range]) -> Iterator[range]:
    for a in one:
        for b in other:
            both = range(max(a.start, b.start), min(a.stop, b.stop))
            if both:
                yield both


def parse(patch: bytes) -> Iterator[Added]:
    """Yield the files of a git patch without context to which lines were added.

    Links are left out. Counts in the hunks' heads tell where a hunk ends: its lines may look like
    anything. A line of JSON that got or lost the comma at its end was there before.
    """
    name: bytes | None = None
    blob = old = ""
    ranges: list[range] = []
    link = False
    lines = iter(patch.split(b"\n"))
    for line in lines:
        if line.startswith(b"diff --git "):
            if name is not None and ranges:
                yield Added(name, blob, tuple(ranges), old)
            name, ranges, link = None, [], False
        elif line.startswith(b"index "):
            _, ids, *mode = line.split(b" ")
            old, _, blob = ids.decode("ascii").partition("..")
            link |= mode == [_LINK]
        elif line in (b"new file mode %b" % _LINK, b"new mode %b" % _LINK):
            link = True
        elif line.startswith(b"+++ "):
            name = _unquoted(line[4:].removesuffix(b"\t")).partition(b"/")[2]
        elif (hunk := _HUNK.match(line)) is not None:
            removed, added = (int(hunk[n]) if hunk[n] else 1 for n in (1, 3))
            body = list(itertools.islice(lines, removed + added))
            if link:
                continue
            start = int(hunk[2])
            if name is not None and name.endswith(_JSON):
                ranges += _in_json(body, start)
            elif added:
                ranges.append(range(start, start + added))
    if name is not None and ranges:
        yield Added(name, blob, tuple(ranges), old)


def _in_json(hunk: Iterable[bytes], start: int) -> Iterator[range]:
    """Yield the lines that a hunk adds, from `start`, for more than the comma behind them."""
    gone: Counter[bytes] = Counter()
    line = start
    for text in hunk:
        bare = _COMMA.sub(b"", text[1:])
        if text.startswith(b"-"):
            gone[bare] += 1
        elif text.startswith(b"+"):
            if gone[bare]:
                gone[bare] -= 1
            else:
                yield range(line, line + 1)
            line += 1


def _unquoted(name: bytes) -> bytes:
    """Undo git's quotes around a name with anything unusual in it."""
    if not name.startswith(b'"'):
        return name

    def byte(match: re.Match[bytes]) -> bytes:
        text = match[1]
        if len(text) == 3:
            return bytes([int(text, 8)])
        return bytes([_LETTERS[text]]) if text in _LETTERS else text

    return _ESCAPE.sub(byte, name[1:-1])


def own_lines(data: bytes, lines: Iterable[range]) -> frozenset[int]:
    r"""Return lines as Python counts them, which also ends them at a lone `\r`."""
    if b"\r" not in data.replace(b"\r\n", b""):
        return frozenset(line for each in lines for line in each)
    result: set[int] = set()
    starts = [0]
    for text in data.split(b"\n"):
        starts.append(starts[-1] + max(len((text + b"\n").splitlines()), 1))
    for each in lines:
        for line in each:
            result.update(range(starts[line - 1] + 1, starts[min(line, len(starts) - 1)] + 1))
    return frozenset(result)
