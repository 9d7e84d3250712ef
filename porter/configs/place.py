"""From offsets into a file's text, in characters, to lines and columns, and to bytes."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass
from functools import cached_property

from porter.engine.source import Source

_LONGEST_LINE = 2_000
"""Bytes of a line beyond which findings don't carry it: with many on it they would fill memory."""


@dataclass(frozen=True)
class Places:
    """The places of one file; `text` is what `source` holds, decoded."""

    source: Source
    text: str

    @cached_property
    def _starts(self) -> list[int]:
        """The offset of each line's first character, by the source's idea of a line."""
        return [0, *(found.end() for found in re.finditer(r"\r\n|\r|\n", self.text))]

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column, both from 1."""
        line = bisect.bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def byte(self, offset: int) -> int:
        """Return the offset into the source's bytes."""
        line = bisect.bisect_right(self._starts, offset)
        first = self._starts[line - 1]
        return self.source.line_starts[line - 1] + len(self.text[first:offset].encode("utf-8"))

    def line(self, number: int) -> str:
        """Return a line without its line end; "" for one that is too long to be shown."""
        too_long = self.source.line_length(number) > _LONGEST_LINE
        return "" if too_long else self.source.line_text(number)
