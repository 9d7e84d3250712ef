"""The parts of a file that its changes touch: only those have to be parsed again.

A file is cut where its top-level statements begin. Between two cuts stands a whole number of
lines that Python's tokenizer enters and leaves outside of every bracket, string and block; so
what parses by itself there parses in its place too, and what was copied need not be looked at.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from porter.engine.source import Source, SourceError
from porter.engine.splice import Change, Spliced


@dataclass(frozen=True)
class Chunk:
    """Some statements as they were, and as they are; `start` is the new text's offset."""

    changes: Sequence[Change]
    old: Sequence[ast.stmt]
    new: Sequence[ast.stmt]
    start: int
    source: Source


def changed_chunks(old: Source, tree: ast.Module, spliced: Spliced) -> list[Chunk]:
    """Parse what the changes touch.

    Raises:
        SourceError: the new text can't be parsed.
    """
    chunks = _parse(old, tree, spliced)
    if chunks is None:  # then a change reaches over a cut
        new = Source(spliced.data, old.encoding, old.bom)
        return [Chunk(spliced.changes, tree.body, new.parse().body, 0, new)]
    return chunks


def _parse(old: Source, tree: ast.Module, spliced: Spliced) -> list[Chunk] | None:
    """Return the chunks, None where the file can't be cut so."""
    found = []
    shift = 0
    changes = deque(spliced.changes)
    for start, end, statements in _cuts(old, tree):
        own = []
        while changes and _is_inside(changes[0], start, end, end == len(old.data)):
            own.append(changes.popleft())
        if not own:
            continue
        grown = sum(len(c.text) - (c.end - c.start) for c in own)
        text = spliced.data[start + shift : end + shift + grown]
        if end < len(old.data) and not text.endswith((b"\n", b"\r")):
            return None
        source = Source(text, old.encoding, b"")
        try:
            found.append(Chunk(own, statements, source.parse().body, start + shift, source))
        except SourceError:
            return None
        shift += grown
    return None if changes else found


def _is_inside(change: Change, start: int, end: int, last: bool) -> bool:
    """Whether a change lies between two cuts; what is put in at the second follows the first."""
    if change.start == end and not last:
        return change.start == change.end and start < change.follows <= end
    return start <= change.start and change.end <= end


def _cuts(source: Source, tree: ast.Module) -> Iterator[tuple[int, int, list[ast.stmt]]]:
    """Yield from which offset to which each group of statements stands that shares no line."""
    groups: list[tuple[int, list[ast.stmt]]] = []
    last_line = 0
    for statement in tree.body:
        first = source.first_line(statement)
        if first <= last_line:
            groups[-1][1].append(statement)
        else:
            groups.append((source.line_starts[first - 1] if groups else 0, [statement]))
        last_line = statement.end_lineno or first
    ends = [start for start, _ in groups[1:]] + [len(source.data)]
    for (start, statements), end in zip(groups, ends, strict=True):
        yield start, end, statements
