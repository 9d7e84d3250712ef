"""Exclude patterns, with the meaning that gitignore gives them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


class PatternError(ValueError):
    """A pattern that can't be read; the text names it."""


class Excluder:
    """Tells which paths a list of gitignore patterns leaves out.

    Paths are relative to the folder that the patterns belong to, with forward slashes. As in
    gitignore the last pattern that matches decides, and what lies in an excluded folder stays
    excluded whatever a later `!pattern` says. Unlike there, `?` stands for a character of UTF-8,
    not for a byte.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        """Compile the patterns.

        Raises:
            PatternError: a pattern is not closed, or uses a named character class.
        """
        self._rules = [rule for pattern in patterns if (rule := _Rule.parse(pattern))]
        self._folders: dict[str, bool] = {"": False}

    @property
    def is_empty(self) -> bool:
        """Whether there are no patterns."""
        return not self._rules

    def excludes(self, path: str) -> bool:
        """Whether the file at this relative path, or a folder above it, is excluded."""
        return self.excludes_folder(path.rpartition("/")[0]) or self._decide(path, folder=False)

    def excludes_folder(self, path: str) -> bool:
        """Whether the folder at this relative path, or one above it, is excluded."""
        known = self._folders.get(path)
        if known is None:
            above = self.excludes_folder(path.rpartition("/")[0])
            known = self._folders[path] = above or self._decide(path, folder=True)
        return known

    def _decide(self, path: str, *, folder: bool) -> bool:
        for rule in reversed(self._rules):
            if (folder or not rule.only_folders) and rule.regex.fullmatch(path):
                return not rule.negated
        return False


@dataclass(frozen=True)
class _Rule:
    """One pattern, compiled."""

    regex: re.Pattern[str]
    negated: bool
    only_folders: bool

    @classmethod
    def parse(cls, pattern: str) -> _Rule | None:
        """Compile a pattern; an empty one is None."""
        text = re.sub(r"(?<!\\) +$", "", pattern)
        negated = text.startswith("!")
        text = text[negated:]
        only_folders = text.endswith("/")
        text = text[: len(text) - only_folders]
        if not text:
            return None
        anchored = "/" in text
        body = _translate(text.removeprefix("/"), pattern)
        try:
            regex = re.compile(body if anchored else "(?:.*/)?" + body, re.DOTALL)
        except re.error as error:  # a range that runs backwards
            raise PatternError(f"{pattern!r} is no pattern: {error}") from error
        return cls(regex, negated, only_folders)


def _translate(glob: str, pattern: str) -> str:
    """Translate a glob to a regular expression in which `*` and `?` stop at slashes."""
    result = []
    at = 0
    while at < len(glob):
        char = glob[at]
        starts = at == 0 or glob[at - 1] == "/"
        if starts and glob.startswith("**/", at):
            result.append("(?:.*/)?")
            at += 3
        elif starts and glob[at:] == "**":
            result.append(".+")
            at += 2
        elif char == "[":
            text, at = _translate_class(glob, at, pattern)
            result.append(text)
        elif char == "\\":
            if at + 1 == len(glob):
                raise PatternError(f"{pattern!r} ends in a backslash")
            result.append(re.escape(glob[at + 1]))
            at += 2
        else:
            result.append({"*": "[^/]*", "?": "[^/]"}.get(char) or re.escape(char))
            at += 1
    return "".join(result)


def _translate_class(glob: str, start: int, pattern: str) -> tuple[str, int]:
    """Translate the `[...]` at `start`; return it and the index behind it."""
    at = start + 1
    negated = glob[at : at + 1] in {"!", "^"}
    at += negated
    members: list[str] = []
    while at < len(glob) and (glob[at] != "]" or not members):
        if glob.startswith("[:", at):
            raise PatternError(f"{pattern!r}: named character classes are not supported")
        if glob[at] == "-":
            members.append("-")
        else:
            at += glob[at] == "\\"
            members.append(re.escape(glob[at : at + 1]))
        at += 1
    if at >= len(glob):
        raise PatternError(f"{pattern!r} has a [ without its ]")
    return f"(?!/)[{'^' if negated else ''}{''.join(members)}]", at + 1


@dataclass(frozen=True)
class Exclusion:
    """Patterns and the folder that they are relative to, as an absolute path without links."""

    base: Path
    excluder: Excluder

    def excludes(self, path: Path, root: Path) -> bool:
        """Whether the file at this absolute path is excluded.

        Patterns written for one folder still mean something in another, `tests/` for one:
        outside `base` they are taken relative to `root`, which the file was found below.
        """
        if self.excluder.is_empty:
            return False
        base = self.base if path.is_relative_to(self.base) else root
        return self.excluder.excludes(path.relative_to(base).as_posix())
