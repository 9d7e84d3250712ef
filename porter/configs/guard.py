"""What a changed file is held to before anybody sees it: the same data, but for what was added."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from porter.configs import document
from porter.configs.read.leaf import Unreadable
from porter.configs.subjects import Subject, Variable


class Broken(Exception):
    """The new text doesn't say what the old one did."""


@dataclass(frozen=True)
class Added:
    """A variable that was added: the text that was put in, and its assignment."""

    text: str
    name: str
    value: str


def check(before: str, after: str, kind: str, added: Sequence[Added]) -> None:
    """Compare two texts of a file.

    Args:
        before: the old text.
        after: the new one.
        kind: of the file.
        added: what the new text has more, in its order.

    Raises:
        Broken: they differ in more than that, or the new one can't be read.
    """
    try:
        _check_leaves(before, after, kind, added)
        _check_subjects(before, after, kind, added)
    except Unreadable as error:
        raise Broken(f"the new text is {error}") from error


def _check_leaves(before: str, after: str, kind: str, added: Sequence[Added]) -> None:
    names = {each.name for each in added}
    texts = sorted({each.text for each in added}, key=len, reverse=True)

    def undone(value: str) -> str:
        if any(name in value for name in names):
            for text in texts:
                value = value.replace(text, "")
        return value

    old = [(leaf.keys, leaf.value) for leaf in document.leaves(before, kind)]
    new = [
        (leaf.keys, undone(leaf.value))
        for leaf in document.leaves(after, kind)
        if not _is_added(leaf.key, leaf.value, names)
    ]
    if old != new:
        raise Broken("the new text has other values")


def _is_added(key: str, value: str, names: Collection[str]) -> bool:
    return key in names or value.partition("=")[0] in names


def _check_subjects(before: str, after: str, kind: str, added: Sequence[Added]) -> None:
    old = map(_said, document.subjects(before, kind))
    new = map(_said, document.subjects(after, kind))
    set_now = (Variable(0, 0, each.name, each.value) for each in added)
    if Counter((*old, *set_now)) != Counter(new):
        raise Broken("the new text says something else")


def _said(subject: Subject) -> Subject:
    """Return a subject without its place."""
    if isinstance(subject, Variable):
        return replace(subject, start=0, end=0, separator=None)
    return replace(subject, start=0, end=0)
