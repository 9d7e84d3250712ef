"""From what the engine noticed, in offsets, to findings, in lines and columns."""

from __future__ import annotations

from collections.abc import Iterable

from porter.engine.fragment import Fragment, Site
from porter.engine.imports import ImportSite
from porter.engine.source import Source, SourceError
from porter.engine.splice import Change
from porter.model import UNREADABLE, Finding, Level

_LONGEST_LINE = 2_000
"""Bytes of a line beyond which findings don't carry it: with many on it they would fill memory."""


def site_finding(source: Source, fragment: Fragment, site: Site) -> Finding:
    """Return the finding for a site inside a fragment."""
    return _finding(
        source,
        (fragment.offset(site.start), fragment.offset(site.end)),
        site,
        source.line_of(fragment.offset(site.first)),
    )


def import_finding(source: Source, site: ImportSite) -> Finding:
    """Return the finding for an imported name."""
    return _finding(source, (site.start, site.end), site, source.line_of(site.first))


def _finding(
    source: Source, extent: tuple[int, int], site: Site | ImportSite, first_line: int
) -> Finding:
    line, column = source.position(extent[0])
    end_line, end_column = source.position(extent[1])
    return Finding(
        code=site.code,
        level=site.level,
        message=site.message,
        line=line,
        column=column,
        end_line=end_line,
        end_column=end_column,
        source=_shown(source, line),
        replacement=site.replacement,
        first_line=first_line,
    )


def _shown(source: Source, line: int) -> str:
    """Return a line's text, less where it is so long that only programs write and read it."""
    return source.line_text(line) if source.line_length(line) <= _LONGEST_LINE else ""


def unreadable(error: SourceError) -> Finding:
    """Return the finding for a file that can't be read as Python."""
    return _error(str(error), error.line, error.column)


def own_fault(error: Exception, changes: Iterable[Change]) -> Finding:
    """Return the finding for a file over which a rule failed, or whose new text failed a guard."""
    code = getattr(error, "code", "") or ", ".join(sorted({c.code for c in changes if c.code}))
    return _error(
        f"left as it was, since its port failed a check ({error}); the fault is porter's, "
        f"in {code}: please report it, and run with --ignore until it is mended",
        1,
        1,
    )


def _error(message: str, line: int, column: int) -> Finding:
    return Finding(UNREADABLE, Level.ERROR, message, line, column, line, column, first_line=line)
