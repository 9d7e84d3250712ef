"""Pragmas in files of configuration: comments with the meaning that they have in Python."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence

from porter import kinds
from porter.configs.read.leaf import Leaf
from porter.engine.pragmas import MARK, Pragma, Pragmas
from porter.engine.source import Source

_PRAGMA = re.compile(
    r"porter:\s*(?P<kind>ignore|skip-file)\b\s*(?:\[(?P<codes>[^\]#]*)\])?\s*(?P<reason>[^#]*)"
)
_MARKS = {kinds.JSON: "//", kinds.INI: "[#;]"}


class ConfigPragmas(Pragmas):
    """The pragmas of a file of configuration."""

    def __init__(self, source: Source, kind: str, leaves: Sequence[Leaf]) -> None:
        """Find the pragmas; what stands inside of a value is none, unless that is a script.

        Args:
            source: the file.
            kind: its kind, which says how comments begin.
            leaves: its values.
        """
        self._source = source
        self._all = list(_find(source, kind, leaves)) if MARK in source.data else []

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self._all)


def _find(source: Source, kind: str, leaves: Sequence[Leaf]) -> Iterator[Pragma]:
    text = source.data.decode("utf-8")
    values = sorted((leaf.start, leaf.end) for leaf in leaves if not leaf.is_block)
    lines = re.split(r"\r\n|\r|\n", text)
    mark = _MARKS.get(kind, "#")
    comment = re.compile(rf"(?:^|(?<=\s)){mark}")
    offset = 0
    for number, line in enumerate(lines, 1):
        found = re.search(rf"{comment.pattern}\s*{_PRAGMA.pattern}", line)
        begin = offset + (found.start() if found else 0)
        offset += len(line) + (2 if text.startswith("\r\n", offset + len(line)) else 1)
        if found is None:
            continue
        before = bisect.bisect_left(values, (begin, 0)) - 1
        if before >= 0 and begin < values[before][1]:
            continue
        yield Pragma(
            found["kind"],
            tuple(c for part in (found["codes"] or "").split(",") if (c := part.strip().upper())),
            found["reason"].strip(),
            number,
            found.start() + 1,
            found.end() + 1,
            _lines_for(lines, number, alone=not line[: found.start()].strip(), mark=mark),
        )


def _lines_for(lines: Sequence[str], number: int, *, alone: bool, mark: str) -> range:
    """Return the lines that a comment speaks for: its own, or the next that is none."""
    first = number
    if alone:
        for first in range(number + 1, len(lines) + 1):
            bare = lines[first - 1].strip()
            if bare and not re.match(mark, bare):
                break
    last = first
    while last < len(lines) and lines[last - 1].endswith("\\"):
        last += 1
    while not alone and first > 1 and lines[first - 2].endswith("\\"):
        first -= 1
    return range(first, last + 1)
