"""Where findings stand: in their cells, and in the notebook's JSON text."""

from __future__ import annotations

from dataclasses import replace

from porter.model import UNREADABLE, Cell, Finding, Level
from porter.notebooks.document import Cell as Source
from porter.notebooks.document import Document
from porter.notebooks.lines import Lines
from porter.notebooks.parts import Part, Unread


class Places:
    """Gives findings their places in a notebook."""

    def __init__(self, document: Document) -> None:
        """Take the notebook."""
        self._document = document

    def finding(self, part: Part, finding: Finding) -> Finding:
        """Return a finding in a part as one in the notebook."""
        start = part.locate(finding.line, finding.column)
        end = part.locate(finding.end_line, finding.end_column)
        first = part.locate(finding.first_line or finding.line, 1)
        if start is None or end is None:
            return replace(finding, line=1, column=1, end_line=1, end_column=1, first_line=1)
        placed = self._placed(finding, start[0], start[1], max(end[1], start[1]))
        if not finding.source and finding.level is not Level.ERROR:  # too long to be shown
            placed = replace(placed, source="")
        if first is None or first[0] is not start[0]:
            return placed
        return replace(placed, first_line=self._document.lines.place(self._at(*first))[0])

    def unread(self, unread: Unread) -> Finding:
        """Return the finding for what can't be read."""
        finding = Finding(UNREADABLE, Level.MANUAL, unread.why, 1, 1, 1, 1)
        return self._placed(finding, unread.cell, unread.start, unread.end)

    def _placed(self, finding: Finding, cell: Source, start: int, end: int) -> Finding:
        inside = Lines(cell.source)
        line, column = inside.place(start)
        at = self._document.lines.place(self._at(cell, start))
        until = at
        if end > start:
            until = self._document.lines.place(self._document.extents(cell)[end - 1][1])
        return replace(
            finding,
            line=at[0],
            column=at[1],
            end_line=until[0],
            end_column=until[1],
            first_line=at[0],
            source=inside.text(line),
            cell=Cell(cell.number, line, column, *inside.place(end)),
        )

    def _at(self, cell: Source, offset: int) -> int:
        """Return the offset in the document of an offset in a cell's source."""
        extents = self._document.extents(cell)
        if offset < len(extents):
            return extents[offset][0]
        return extents[-1][1] if extents else cell.items[0].start if cell.items else 0
