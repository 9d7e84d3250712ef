"""The texts that a notebook holds: its module of Python, and what is for others to read.

All Python cells together are one module, since they share their names. What a cell tells a shell,
and a file that it writes, are texts of their own.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from porter import kinds
from porter.engine.prefilter import may_have_sites
from porter.engine.source import Source, SourceError
from porter.engine.splice import Change
from porter.notebooks.document import Cell, Document
from porter.notebooks.lines import Lines
from porter.notebooks.magics import Code, sort
from porter.notebooks.splice import Edit, SpliceError

_MAGIC = "in a magic that porter doesn't read: port by hand what is in it"
_LEFT = "the whole cell is left: {}"
_HALF = "it holds a surrogate alone, which is half a character: write the whole one"
_HEAD = "#\n#\n"
"""Behind two comments, nothing is taken for a coding cookie."""
_BORDER = "pass\n"
"""Keeps imports, and comments, of two cells from standing together."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_INDENTED = re.compile(r"(?:[ \t\f\r]*\n)*[ \t]+[^\s#]")


@dataclass(frozen=True)
class _Piece:
    """A stretch of a part's text from `start`: that of the cell's source from `at`."""

    start: int
    end: int
    cell: Cell
    at: int


@dataclass
class Part:
    """A text of one kind, and where in which cells it stands; offsets are in characters."""

    kind: str
    name: str
    text: str = ""
    _pieces: list[_Piece] = field(default_factory=list)

    def add(self, cell: Cell, text: str, at: int = 0, before: str = "", behind: str = "\n") -> None:
        """Append a text that is as long as the cell's source from `at`."""
        start = len(self.text) + len(before)
        self._pieces.append(_Piece(start, start + len(text), cell, at))
        self.text += before + text + behind

    def locate(self, line: int, column: int) -> tuple[Cell, int] | None:
        """Return the cell at a place of the text, and the offset in its source.

        What lies behind a cell is taken for its end; before all cells, the answer is None.
        """
        offset = self._lines.offset(line, column)
        piece = self._piece(offset)
        if piece is None:
            return None
        return piece.cell, min(offset, piece.end) - piece.start + piece.at

    def _piece(self, offset: int) -> _Piece | None:
        at = bisect.bisect_right(self._pieces, offset, key=lambda piece: piece.start)
        return self._pieces[at - 1] if at else None

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self.text)

    def edits(self, changes: Sequence[Change]) -> list[Edit]:
        """Return changes of the text, whose offsets are into its UTF-8 bytes, as edits of cells.

        Raises:
            SpliceError: a change is not inside of one cell, or not of what the cell says.
        """
        data = self.text.encode("utf-8")
        edits = []
        for change in changes:
            start = len(data[: change.start].decode("utf-8"))
            end = start + len(data[change.start : change.end].decode("utf-8"))
            edits.append(self._edit(start, end, change.text.decode("utf-8")))
        return edits

    def _edit(self, start: int, end: int, text: str) -> Edit:
        piece = self._piece(start)
        if piece is None:
            raise SpliceError("a change lies outside of all cells")
        shift = piece.at - piece.start
        if start > piece.end and start == end:  # behind the line end that was put behind the cell
            return Edit(
                piece.cell, len(piece.cell.source), len(piece.cell.source), f"\n{text.rstrip()}"
            )
        if self.text[start:end] != piece.cell.source[start + shift : end + shift]:
            raise SpliceError(f"a change of cell {piece.cell.number} takes more than its Python")
        return Edit(piece.cell, start + shift, end + shift, text)


@dataclass(frozen=True)
class Unread:
    """A stretch of a cell's source that porter can't read, and why."""

    cell: Cell
    start: int
    end: int
    why: str


@dataclass
class Assembly:
    """What the cells come to: their common module, other texts, and what can't be read."""

    module: Part
    others: list[Part] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)


def assemble(document: Document) -> Assembly:
    """Sort the code cells of a notebook into parts."""
    found = Assembly(Part(kinds.PYTHON, "", _HEAD))
    for cell in document.cells:
        if cell.language in ("", "python"):
            try:
                _add(found, cell)
            except SourceError as error:
                if _has_sites(cell.source):
                    lines = Lines(cell.source)
                    start = lines.offset(error.line, error.column)
                    end = lines.offset(error.line, len(cell.source))
                    found.unread.append(Unread(cell, start, end, _LEFT.format(error)))
    return found


def _add(found: Assembly, cell: Cell) -> None:
    """Add what a cell holds.

    Raises:
        SourceError: its Python can't be read; the place is in the cell.
    """
    half = _SURROGATE.search(cell.source)
    if half is not None:
        raise SourceError(_HALF, *Lines(cell.source).place(half.start()))
    code = sort(cell.source)
    found.others += _others(cell, code)
    found.unread += (
        Unread(cell, r.start, r.stop, _MAGIC)
        for r in code.unread
        if _has_sites(cell.source[r.start : r.stop])
    )
    if code.python.strip():
        _add_python(found.module, cell, code.python)


def _others(cell: Cell, code: Code) -> Iterator[Part]:
    """Yield what a cell holds for others than the notebook's own Python."""
    if code.shell.strip():
        part = Part(kinds.SHELL, f"cell_{cell.number}.sh")
        part.add(cell, code.shell)
        yield part
    kind = kinds.of(code.written)
    if kind and kind != kinds.NOTEBOOK:
        part = Part(kind, code.written, _HEAD if kind == kinds.PYTHON else "")
        part.add(cell, cell.source[code.body :], code.body, behind="")
        yield part


def _add_python(module: Part, cell: Cell, text: str) -> None:
    """Add a cell to the module.

    Raises:
        SourceError: it is no Python; the place is in the cell.
    """
    # IPython takes the indentation of a cell's first line off all its lines.
    before = "if 1:\n" if _INDENTED.match(text) else ""
    try:
        tree = Source(f"{before}{text}\n".encode(), "utf-8", b"").parse()
    except SourceError as error:
        error.line = max(error.line - len(before.splitlines()), 1)
        raise
    module.add(cell, text, before=before, behind=f"\n{_BORDER}" if tree.body else "\n")


def _has_sites(text: str) -> bool:
    return may_have_sites(text.encode("utf-8", "replace"))
