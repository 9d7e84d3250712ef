"""Text of others, which may hold anything."""

from __future__ import annotations


def visible(text: str) -> str:
    """Spell out what can't be printed: line ends, control characters, undecodable bytes."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii")
        for c in text.replace("\t", " ")
    )
