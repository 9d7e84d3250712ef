"""The parts of a file that its changes touch: only those have to be parsed again.

A file is cut where its top-level statements begin, and where those of its classes do. Between two
cuts stands a whole number of lines that Python's tokenizer enters and leaves outside of every
bracket and string, and of every block but the class's; so what parses by itself there parses in its
place too, and what was copied need not be looked at.
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
    for part in _parts(old, tree.body, spliced.changes):
        own = []
        while changes and part.holds(changes[0]):
            own.append(changes.popleft())
        if not own:
            continue
        grown = sum(len(c.text) - (c.end - c.start) for c in own)
        text = spliced.data[part.start + shift : part.end + shift + grown]
        if part.end < len(old.data) and not text.endswith((b"\n", b"\r")):
            return None
        source = Source(part.header + text, old.encoding, b"")
        try:
            new = part.body_of(source.parse())
        except SourceError:
            return None
        if new is None:
            return None
        start = part.start + shift - len(part.header)
        found.append(Chunk(own, part.statements, new, start, source))
        shift += grown
    return None if changes else found


_BLOCK = b"if 1:\n"
"""What the statements of a class are parsed under, with the indentation that they have."""


@dataclass(frozen=True)
class _Part:
    """The lines from `start` to `end`, which hold whole statements, and no others."""

    start: int
    end: int
    statements: Sequence[ast.stmt]
    header: bytes
    is_last: bool

    def holds(self, change: Change) -> bool:
        """Whether a change lies in the part; what is put in at its end follows the first half."""
        if change.start == self.end and not self.is_last:
            return change.start == change.end and self.start < change.follows <= self.end
        return self.start <= change.start and change.end <= self.end

    def body_of(self, tree: ast.Module) -> Sequence[ast.stmt] | None:
        """Return the part's statements, None where some of them have left the class."""
        if not self.header:
            return tree.body
        match tree.body:
            case [ast.If(body=body, orelse=[])]:
                return body
        return None


def _parts(source: Source, body: Sequence[ast.stmt], changes: Sequence[Change]) -> Iterator[_Part]:
    """Yield the parts of a file: its statements, and those of classes whose heads don't change."""
    end = len(source.data)
    for part in _cuts(source, body, 0, end, b""):
        match part.statements:
            case [ast.ClassDef(body=inner)]:
                start = _block_start(source, inner[0])
                if start is not None and not any(part.start <= c.start < start for c in changes):
                    yield from _cuts(source, inner, start, part.end, _BLOCK)
                    continue
        yield part


def _block_start(source: Source, first: ast.stmt) -> int | None:
    """Return where the line of a block's first statement begins, None if it shares that line."""
    line = source.first_line(first)
    start = source.line_starts[line - 1]
    before = source.data[start : source.offset(line, first.col_offset)]
    return None if before.strip(b" \t\f") else start


def _cuts(
    source: Source, body: Sequence[ast.stmt], start: int, end: int, header: bytes
) -> Iterator[_Part]:
    """Yield from which offset to which each group of statements stands that shares no line."""
    groups: list[tuple[int, list[ast.stmt]]] = []
    last_line = 0
    for statement in body:
        first = source.first_line(statement)
        if first <= last_line:
            groups[-1][1].append(statement)
        else:
            groups.append((source.line_starts[first - 1] if groups else start, [statement]))
        last_line = statement.end_lineno or first
    ends = [at for at, _ in groups[1:]] + [end]
    for (at, statements), until in zip(groups, ends, strict=True):
        yield _Part(at, until, statements, header, until == len(source.data))
