"""TOML: the places of its values; what is TOML, the standard library's parser decides."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from porter.configs.read.leaf import Leaf, Unreadable, separator

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_TOKEN = re.compile(
    r'''(?P<string>"""(?:\\.|[^\\])*?"""(?:"{0,2}(?!"))|\'\'\'.*?\'\'\'(?:'{0,2}(?!'))
        |"(?:[^"\\\n]|\\.)*"|'[^'\n]*')
    | (?P<comment>\#[^\n]*)
    | (?P<line>\n)
    | (?P<mark>[{}\[\]=,])
    | (?P<word>[^\s{}\[\]=,\#"']+)
    | (?P<blank>[ \t\r]+)''',
    re.VERBOSE | re.DOTALL,
)
_Token = tuple[str, str, int, int]


def leaves(text: str) -> list[Leaf]:
    """Return the values of a TOML text, in their order.

    Raises:
        Unreadable: it isn't TOML.
    """
    try:
        tomllib.loads(text.replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        offset = _offset(text, int(found[1]), int(found[2])) if found else 0
        raise Unreadable(f"not TOML: {str(error).partition(' (at ')[0]}", offset) from error
    return _Reader(text).read()


def _offset(text: str, line: int, column: int) -> int:
    before = text.splitlines(keepends=True)[: line - 1]
    return sum(map(len, before)) + column - 1


def _tokens(text: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if kind not in ("comment", "blank"):
            yield kind, match[0], match.start(), match.end()


class _Reader:
    """The state of reading one text, which is known to be TOML."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [*_tokens(text), ("end", "", len(text), len(text))]
        self._at = 0
        self._holders = 0
        self._found: list[Leaf] = []

    def read(self) -> list[Leaf]:
        table: tuple[str, ...] = ()
        self._holders, holder = 1, 1
        while self._kind != "end":
            if self._kind == "line":
                self._at += 1
            elif self._is("["):
                table = self._header()
                self._holders += 1
                holder = self._holders
            else:
                self._entry(table, holder, inline=False)
        return self._found

    @property
    def _kind(self) -> str:
        return self._tokens[self._at][0]

    def _is(self, mark: str) -> bool:
        kind, text, _, _ = self._tokens[self._at]
        return kind == "mark" and text == mark

    def _header(self) -> tuple[str, ...]:
        while self._is("["):
            self._at += 1
        keys = self._keys("]")
        while self._is("]"):
            self._at += 1
        return keys

    def _keys(self, closing: str) -> tuple[str, ...]:
        """Return the parts of a dotted key, and go to what ends it."""
        parts: list[str] = []
        while not self._is(closing):
            kind, text, _, _ = self._tokens[self._at]
            parts += [_unquoted(text)] if kind == "string" else [p for p in text.split(".") if p]
            self._at += 1
        return tuple(parts)

    def _entry(self, table: tuple[str, ...], holder: int, *, inline: bool) -> None:
        start = self._tokens[self._at][2]
        keys = (*table, *self._keys("="))
        self._at += 1
        self._value(keys, start, holder, inline=inline)

    def _value(
        self, keys: tuple[str, ...], key_start: int | None, holder: int, *, inline: bool
    ) -> None:
        if self._is("{") or self._is("["):
            self._items(keys)
            return
        kind, text, start, end = self._tokens[self._at]
        self._at += 1
        while kind == "word" and self._kind == "word":  # a date and a time, with a blank between
            end = self._tokens[self._at][3]
            self._at += 1
        value = _unquoted(text) if kind == "string" else self._text[start:end]
        between = ", "
        if not inline and key_start is not None:
            between = separator(self._text, key_start, end) or ""
        self._found.append(Leaf(keys, value, start, end, key_start, holder, between or None))

    def _items(self, keys: tuple[str, ...]) -> None:
        closing = "}" if self._is("{") else "]"
        self._holders += 1
        holder = self._holders
        self._at += 1
        while not self._is(closing):
            if self._kind == "line" or self._is(","):
                self._at += 1
            elif closing == "}":
                self._entry(keys, holder, inline=True)
            else:
                self._value(keys, None, holder, inline=True)
        self._at += 1


def _unquoted(text: str) -> str:
    value = tomllib.loads(f"x = {text}".replace("\r\n", "\n"))["x"]
    return str(value)
