"""The single values of a structured file, with their keys and places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


class Unreadable(Exception):
    """The text is not what its file's name promises; `offset` says where, in characters."""

    def __init__(self, message: str, offset: int = 0) -> None:
        super().__init__(message)
        self.offset = offset


@dataclass(frozen=True)
class Leaf:
    """A value that is neither a mapping nor a list.

    Attributes:
        keys: the keys that lead to it, the outermost first.
        value: without quotes and escapes.
        start: the offset of its text, quotes included, in characters.
        end: the offset behind it.
        key_start: where its key starts; None for an item of a list.
        holder: which mapping or list holds it: a number of its own for each.
        separator: what to write between this entry and a new one behind it; None where that
            can't be told from here.
        is_block: whether the text is on lines of its own, without quotes.
    """

    keys: tuple[str, ...]
    value: str
    start: int
    end: int
    key_start: int | None = None
    holder: int = 0
    separator: str | None = None
    is_block: bool = False

    @property
    def key(self) -> str:
        """The innermost key, "" where there is none."""
        return self.keys[-1] if self.keys else ""


def separator(text: str, start: int, end: int, indent: str = "") -> str | None:
    """Return what parts entries that stand on lines of their own.

    Args:
        text: the file's.
        start: where the entry starts, without what introduces it.
        end: where it ends.
        indent: what may introduce it, after blanks: a pattern.

    Returns:
        A line end and the same introduction again; None where the line holds anything else.
    """
    first = text.rfind("\n", 0, start) + 1
    rest = re.compile(r"[ \t]*(\r?\n|\Z)").match(text, end)
    if rest is None or re.fullmatch(rf"[ \t]*{indent}", text[first:start]) is None:
        return None
    return (rest[1] or "\n") + text[first:start]


_TEMPLATE = re.compile(
    r"^[ \t]*\{\{(?:(?!\}\}).){0,999}\}\}[ \t]*$|\{%.{0,999}?%\}|\{#.{0,999}?#\}"
    r"|(?P<value>\{\{.{0,999}?\}\})",
    re.DOTALL | re.MULTILINE,
)
"""A template; those that fill a line of their own are rather statements than values."""


def masked(text: str) -> str:
    """Return the text with templates (`{{ }}`, `{% %}`, `{# #}`) written over, at equal length."""

    def cover(found: re.Match[str]) -> str:
        return re.sub(r"\S", "_" if found["value"] else " ", found[0])

    return _TEMPLATE.sub(cover, text) if "{" in text else text


def beside(leaves: list[Leaf]) -> dict[int, dict[str, str]]:
    """Return the keys and values of each mapping, by the number of the holder."""
    found: dict[int, dict[str, str]] = {}
    for leaf in leaves:
        if leaf.key_start is not None:
            found.setdefault(leaf.holder, {})[leaf.key] = leaf.value
    return found


def groups(leaves: list[Leaf]) -> Iterator[list[Leaf]]:
    """Yield the leaves by their holders, in the order of their first leaves."""
    found: dict[int, list[Leaf]] = {}
    for leaf in leaves:
        found.setdefault(leaf.holder, []).append(leaf)
    yield from found.values()
