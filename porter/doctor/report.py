"""An examination as aligned text for people, and as JSON for programs."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence

import click

import porter

from .entry import Entry, Section, State

_COLOURS = {State.OK: "green", State.NOTE: "yellow", State.PROBLEM: "red", State.ABSENT: None}
_WORDS = {State.OK: "ok", State.NOTE: "note", State.PROBLEM: "PROBLEM", State.ABSENT: "-"}


def problems(sections: Sequence[Section]) -> int:
    """Return how many problems there are."""
    return sum(e.state is State.PROBLEM for section in sections for e in section.entries)


def as_text(sections: Sequence[Section], width: int) -> str:
    """Return the sections as lines no wider than `width`, with colours that click may drop."""
    name_width = max(len(e.name) for section in sections for e in section.entries)
    word_width = max(map(len, _WORDS.values()))
    lines = []
    for section in sections:
        if section.entries:
            lines.append(click.style(section.title, bold=True))
            for entry in section.entries:
                lines += _lines(entry, word_width, name_width, width)
            lines.append("")
    lines.append(_summary(sections))
    return "\n".join(lines)


def _lines(entry: Entry, word_width: int, name_width: int, width: int) -> list[str]:
    word = click.style(f"{_WORDS[entry.state]:{word_width}}", fg=_COLOURS[entry.state])
    margin = 2 + word_width + 2 + name_width + 2
    wrapped = _wrap(entry.text, width - margin)
    lines = [f"  {word}  {entry.name:{name_width}}  {wrapped[0]}"]
    lines += [" " * margin + line for line in wrapped[1:]]
    if entry.mend:
        first, *rest = _wrap(entry.mend, width - margin - 3)
        lines.append(" " * margin + f"-> {first}")
        lines += [" " * (margin + 3) + line for line in rest]
    return lines


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, max(width, 30), break_long_words=False, break_on_hyphens=False) or [
        ""
    ]


def _summary(sections: Sequence[Section]) -> str:
    count = problems(sections)
    if count:
        return click.style(f"{count} problem{'s' if count > 1 else ''}", fg="red", bold=True)
    backend = next(s.facts["backend"] for s in sections if "backend" in s.facts)
    return f"no problem: ported code runs on {backend}"


def as_json(sections: Sequence[Section]) -> str:
    """Return the sections as one JSON document, in ASCII.

    The document is an object with "version" (1; it grows when a key goes or changes its meaning),
    "porter" (its version), "problems" (their number) and "sections": each with "title", "entries"
    and "facts". An entry has "name", "state" ("ok", "absent", "note" or "problem"), "text" and
    "mend" ("" where nothing is wanted); the keys of "facts" depend on the section.
    """
    document = {
        "version": 1,
        "porter": porter.__version__,
        "problems": problems(sections),
        "sections": [
            {
                "title": section.title,
                "entries": [
                    {"name": e.name, "state": e.state.value, "text": e.text, "mend": e.mend}
                    for e in section.entries
                ],
                "facts": section.facts,
            }
            for section in sections
        ],
    }
    return json.dumps(document, indent=2)
