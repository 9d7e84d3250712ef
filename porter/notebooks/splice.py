"""Edits of cells as edits of the JSON text: what isn't edited keeps the spelling that it has."""

from __future__ import annotations

import difflib
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from porter.notebooks.document import Cell, Document

_WORD = re.compile(r"\w+|\W")


class SpliceError(Exception):
    """The new text is not the old notebook with the edits in it."""


@dataclass(frozen=True)
class Edit:
    """Replace a stretch of a cell's source by `text`."""

    cell: Cell
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Spelt:
    """Replace a stretch of a document's text by `text`."""

    start: int
    end: int
    text: str


class Speller:
    """Writes edits as JSON: where each line is a string, a new line becomes a string, too."""

    def __init__(self, document: Document) -> None:
        """Take the document that is edited."""
        self._document = document
        self._ascii = document.text.isascii()

    def spell(self, edit: Edit) -> Spelt:
        """Return an edit of a cell, which isn't empty, as an edit of the document's text."""
        cell, start, end = edit.cell, edit.start, edit.end
        extents = self._document.extents(cell)
        glue = self._document.glue if cell.has_line_items else ""
        if start < end:
            first, last = extents[start][0], extents[end - 1][1]
            goes_on = end < len(extents) and extents[end][0] == last
        elif start < len(extents):
            first = last = extents[start][0]
            goes_on = True
        else:
            first = last = extents[-1][1]
            goes_on = False
        pieces = [self._spelt(character) for character in edit.text]
        for at, character in enumerate(edit.text):
            if character == "\n" and (goes_on or at + 1 < len(pieces)):
                pieces[at] += glue
        self._keep_spelling(edit, [*extents[start:end], (last, last)], pieces)
        begins = glue if first == extents[-1][1] and cell.source.endswith("\n") else ""
        return Spelt(first, last, begins + "".join(pieces))

    def _spelt(self, text: str) -> str:
        return json.dumps(text, ensure_ascii=self._ascii)[1:-1]

    def _keep_spelling(
        self, edit: Edit, extents: Sequence[tuple[int, int]], pieces: list[str]
    ) -> None:
        r"""Let what stays of the old text be written as it was: `\u00e9` needs no escape."""
        old = edit.cell.source[edit.start : edit.end]
        starts = [start for start, _ in extents]
        spelt = [self._document.text[start:end] for start, end in itertools.pairwise(starts)]
        for one, other, size in _common(old, edit.text):
            for at in range(size):
                piece, before = pieces[other + at], spelt[one + at]
                # Where a line ends, what has to follow depends on what follows now.
                if old[one + at] != "\n" or len(piece) == len(before):
                    pieces[other + at] = before


def _common(old: str, new: str) -> Iterator[tuple[int, int, int]]:
    """Yield where two texts say the same: the offsets in both, and for how long."""
    start = _beginning(old, new)
    end = _beginning(old[start:][::-1], new[start:][::-1])
    yield 0, 0, start
    yield len(old) - end, len(new) - end, end
    # Word by word: a search for equal characters takes time as their number squared.
    words, others = (_WORD.findall(text[start : len(text) - end]) for text in (old, new))
    ends, other_ends = ([0, *itertools.accumulate(map(len, each))] for each in (words, others))
    matcher = difflib.SequenceMatcher(None, words, others, autojunk=False)
    for one, other, size in matcher.get_matching_blocks():
        yield start + ends[one], start + other_ends[other], ends[one + size] - ends[one]


def _beginning(one: str, other: str) -> int:
    """Return how many characters two texts have in common from the start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def new_sources(edits: Iterable[Edit]) -> dict[int, str]:
    """Return the new sources of the cells that are edited, by the cells' numbers.

    Args:
        edits: in the order of their places.
    """
    sources: dict[int, str] = {}
    shifts: dict[int, int] = {}
    for edit in edits:
        number = edit.cell.number
        source, shift = sources.get(number, edit.cell.source), shifts.get(number, 0)
        sources[number] = source[: edit.start + shift] + edit.text + source[edit.end + shift :]
        shifts[number] = shift + len(edit.text) - (edit.end - edit.start)
    return sources


def check(before: str, after: str, sources: dict[int, str]) -> None:
    """Check that a notebook's new text says what the old one does, but for some sources.

    Raises:
        SpliceError: it says something else.
    """
    try:
        old, new = (_load(text) for text in (before, after))
        for number, source in sources.items():
            one, other = (notebook["cells"][number - 1] for notebook in (old, new))
            was, now = one["source"], other["source"]
            if type(was) is not type(now) or "".join(now) != source:
                raise SpliceError(f"the source of cell {number} is not what it should be")
            if _is_lines(was) and not _is_lines(now):
                raise SpliceError(f"the source of cell {number} is in pieces")
            other["source"] = was
    except (ValueError, LookupError, TypeError) as error:
        raise SpliceError(f"the new text is no notebook ({error})") from error
    if old != new:
        raise SpliceError("the new text differs in more than the sources")


def _is_lines(source: str | list[str]) -> bool:
    return source == "".join(source).splitlines(keepends=True)


def _load(text: str) -> Any:
    return json.loads(text, parse_constant=str)  # NaN is not equal to itself
