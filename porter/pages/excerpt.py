"""The lines around a finding, read again from its file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from porter.engine.source import Source, SourceError
from porter.model import Finding

_AROUND = 3
"""Lines shown before and after a site."""

_SITE = 12
"""Lines of a site beyond which it is cut."""

_WIDTH = 300
"""Characters of a line beyond which it is cut: a minified line may hold a thousand sites."""


@dataclass(frozen=True)
class Excerpt:
    """Consecutive lines of a file; `first` is the number of the first, from 1."""

    first: int
    lines: tuple[str, ...]


def load(path: str) -> Source | None:
    """Read a file to take excerpts from; None where it can't be read as text."""
    try:
        return Source.decode(Path(path).read_bytes())
    except (OSError, SourceError):
        return None


def excerpt(source: Source, finding: Finding) -> Excerpt | None:
    """Return the lines around a finding.

    None in a notebook, whose lines are JSON, and where the file has been changed meanwhile.
    """
    last = len(source.line_starts) - 1
    if finding.cell or finding.line > last or source.line_text(finding.line) != finding.source:
        return None
    first = max(1, finding.line - _AROUND)
    stop = min(last, min(finding.end_line, finding.line + _SITE) + _AROUND) + 1
    return Excerpt(
        first,
        tuple(
            shortened(source.line_text(line), finding.column if line == finding.line else 1)[0]
            for line in range(first, stop)
        ),
    )


def shortened(line: str, column: int) -> tuple[str, int]:
    """Cut a very long line to what stands around a column (from 1).

    Returns:
        The line, and by how many characters what is left of it moved to the left.
    """
    if len(line) <= _WIDTH:
        return line, 0
    start = max(0, min(column - 1 - _WIDTH // 3, len(line) - _WIDTH))
    stop = start + _WIDTH
    before, after = "…" * (start > 0), "…" * (stop < len(line))
    return before + line[start:stop] + after, start - len(before)
