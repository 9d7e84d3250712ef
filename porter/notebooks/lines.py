"""Offsets in a text, and lines and columns."""

from __future__ import annotations

import bisect
import re

_END = re.compile(r"\r\n|\r|\n")


class Lines:
    """The lines of a text, as Python and editors count them: all from 1, columns in characters."""

    def __init__(self, text: str) -> None:
        """Find the lines."""
        self._text = text
        self._starts = [0, *(match.end() for match in _END.finditer(text))]

    def place(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset."""
        line = bisect.bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a place, or of its line's end where it lies behind that."""
        line = min(line, len(self._starts))
        start = self._starts[line - 1]
        return start + min(column - 1, len(self.text(line)))

    def text(self, line: int) -> str:
        """Return a line without its end."""
        end = self._starts[line] if line < len(self._starts) else len(self._text)
        return self._text[self._starts[line - 1] : end].rstrip("\r\n")
