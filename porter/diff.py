"""Diffs of bytes in git's format, which `git apply` turns into exactly the new bytes."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

_CONTEXT = 3
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
    """Return the unified diff of a file that exists before and after; empty if nothing changed.

    Lines end at `\\n` alone, as for git: a file with `\\r` line ends is a single line.

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
    # Most lines are the same at both ends: the matcher needs time for each that it sees.
    head = max(_common(old, new) - _CONTEXT, 0)
    tail = max(_common(old[head:][::-1], new[head:][::-1]) - _CONTEXT, 0)
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    matcher = difflib.SequenceMatcher(None, a, b)
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        first, last = group[0], group[-1]
        old_range = _range(head + first[1], head + last[2])
        new_range = _range(head + first[3], head + last[4])
        yield b"@@ -%s +%s @@\n" % (old_range, new_range)
        for kind, a1, a2, b1, b2 in group:
            if kind == "equal":
                yield from _marked(b" ", a[a1:a2])
            else:
                yield from _marked(b"-", a[a1:a2])
                yield from _marked(b"+", b[b1:b2])


def _common(old: list[bytes], new: list[bytes]) -> int:
    """Count the lines that both begin with."""
    count = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        count += 1
    return count


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
