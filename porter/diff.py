"""Diffs of bytes in git's format, which `git apply` turns into exactly the new bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

_CONTEXT = 3
_SAME = 3
"""How many lines have to be the same for two texts to agree again."""
_FAR = 300
"""How many lines are looked at for that."""
_ESCAPES = {
    0x07: "a",
    0x08: "b",
    0x09: "t",
    0x0A: "n",
    0x0B: "v",
    0x0C: "f",
    0x0D: "r",
    0x22: '"',
    0x5C: "\\",
}


def unified(name: bytes, before: bytes, after: bytes) -> bytes:
    r"""Return the unified diff of a file that exists before and after; empty if nothing changed.

    Lines end at `\n` alone, as for git: a file with `\r` line ends is a single line.

    Args:
        name: the file's path relative to the folder in which the diff is to be applied, with
            forward slashes.
        before: the old content.
        after: the new content.
    """
    if before == after:
        return b""
    old, new = quoted(b"a/" + name), quoted(b"b/" + name)
    header = [
        b"diff --git %s %s\n" % (old, new),
        b"--- %s\n" % _terminated(old),
        b"+++ %s\n" % _terminated(new),
    ]
    return b"".join([*header, *_hunks(_lines(before), _lines(after))])


def quoted(name: bytes) -> bytes:
    """Return a path as git writes it: in C's quotes where it holds anything but plain ASCII."""
    if all(0x20 <= byte < 0x7F and byte not in _ESCAPES for byte in name):
        return name
    inside = "".join(
        f"\\{_ESCAPES[byte]}"
        if byte in _ESCAPES
        else chr(byte)
        if 0x20 <= byte < 0x7F
        else f"\\{byte:03o}"
        for byte in name
    )
    return b'"%s"' % inside.encode("ascii")


def _terminated(name: bytes) -> bytes:
    """Mark where a name with a blank ends, as git does: what follows could be a date."""
    return name + b"\t" if b" " in name else name


def _lines(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def _hunks(old: list[bytes], new: list[bytes]) -> Iterator[bytes]:
    groups: list[list[_Change]] = []
    for change in _changes(old, new):
        if groups and change.old.start - groups[-1][-1].old.stop <= 2 * _CONTEXT:
            groups[-1].append(change)
        else:
            groups.append([change])
    for group in groups:
        start = max(group[0].old.start - _CONTEXT, 0)
        stop = min(group[-1].old.stop + _CONTEXT, len(old))
        new_start = group[0].new.start - (group[0].old.start - start)
        new_stop = group[-1].new.stop + (stop - group[-1].old.stop)
        ranges = _range(start, stop), _range(new_start, new_stop)
        yield b"@@ -%s +%s @@%s\n" % (*ranges, _heading(old, start))
        at = start
        for change in group:
            yield from _marked(b" ", old[at : change.old.start])
            yield from _marked(b"-", old[change.old.start : change.old.stop])
            yield from _marked(b"+", new[change.new.start : change.new.stop])
            at = change.old.stop
        yield from _marked(b" ", old[at:stop])


def _heading(lines: list[bytes], start: int) -> bytes:
    """Return what git prints behind a hunk's ranges: the last line before it that isn't indented.

    git takes a letter, an underscore or a dollar for the start of such a line, and 80 bytes of it.
    """
    for at in range(start - 1, -1, -1):
        if lines[at][:1].isalpha() or lines[at][:1] in {b"_", b"$"}:
            return b" " + lines[at][:80].rstrip()
    return b""


class _Change(NamedTuple):
    """Lines of the old text, and the lines of the new text in their place."""

    old: range
    new: range


def _changes(old: list[bytes], new: list[bytes]) -> Iterator[_Change]:
    """Yield what differs, in order.

    Edits are small and far between: the texts are cut where they agree again, and the matcher,
    whose time grows with the square of the repeated lines, sees the pieces alone.
    """
    import difflib  # here, since a hook asks this module for quoted names alone

    i = j = 0
    while i < len(old) or j < len(new):
        if old[i : i + 1] == new[j : j + 1]:
            i, j = i + 1, j + 1
            continue
        to_i, to_j = _next_agreement(old, new, i, j)
        pieces = difflib.SequenceMatcher(None, old[i:to_i], new[j:to_j])
        for kind, i1, i2, j1, j2 in pieces.get_opcodes():
            if kind != "equal":
                yield _Change(range(i + i1, i + i2), range(j + j1, j + j2))
        i, j = to_i, to_j


def _next_agreement(old: list[bytes], new: list[bytes], i: int, j: int) -> tuple[int, int]:
    """Return the nearest indices from which some lines, or all that are left, are the same."""
    for distance in range(1, _FAR):
        for skipped in range(distance + 1):
            a, b = i + skipped, j + distance - skipped
            if a <= len(old) and b <= len(new) and old[a : a + _SAME] == new[b : b + _SAME]:
                return a, b
    return len(old), len(new)


def _range(start: int, stop: int) -> bytes:
    length = stop - start
    if length == 1:
        return b"%d" % (start + 1)
    return b"%d,%d" % (start + 1 if length else start, length)


def _marked(mark: bytes, lines: list[bytes]) -> Iterator[bytes]:
    for line in lines:
        yield mark + line
        if not line.endswith(b"\n"):
            yield b"\n\\ No newline at end of file\n"
