"""JSON, also with comments and trailing commas, as editors' settings have them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from porter.configs.read.leaf import Leaf, Unreadable

_TOKEN = re.compile(
    r"""(?P<string>"(?:[^"\\\n]|\\.)*")
    | (?P<comment>//[^\n]*|/\*.*?\*/)
    | (?P<mark>[{}\[\]:,])
    | (?P<word>[^\s{}\[\]:,"/]+)
    | (?P<blank>\s+)
    | (?P<wrong>.)""",
    re.VERBOSE | re.DOTALL,
)
_Token = tuple[str, str, int, int]


def leaves(text: str) -> list[Leaf]:
    """Return the values of a JSON text, in their order; none of several texts in one file.

    Raises:
        Unreadable: it isn't JSON.
    """
    reader = _Reader(list(_tokens(text)), len(text))
    try:
        reader.value((), None, 0)
    except RecursionError as error:
        raise Unreadable("not JSON that porter can read: it is nested too deeply") from error
    return reader.found if reader.at_end else []


def _tokens(text: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if kind == "wrong":
            raise Unreadable(f"not JSON: {match[0]!r} has no meaning here", match.start())
        if kind not in ("comment", "blank"):
            yield kind, match[0], match.start(), match.end()


class _Reader:
    """The state of reading one text."""

    def __init__(self, tokens: list[_Token], size: int) -> None:
        self.found: list[Leaf] = []
        self._tokens = [*tokens, ("end", "", size, size)]
        self._at = 0
        self._holders = 0

    @property
    def at_end(self) -> bool:
        return self._tokens[self._at][0] == "end"

    def value(self, keys: tuple[str, ...], key_start: int | None, holder: int) -> None:
        kind, text, start, end = self._take()
        if text == "{":
            self._items("}", keys)
        elif text == "[":
            self._items("]", keys)
        elif kind in ("string", "word"):
            value = _string(text, start) if kind == "string" else text
            self.found.append(Leaf(keys, value, start, end, key_start, holder, ", "))
        else:
            raise Unreadable("not JSON: a value is missing", start)

    def _items(self, closing: str, keys: tuple[str, ...]) -> None:
        self._holders += 1
        holder = self._holders
        while self._tokens[self._at][1] != closing:
            if closing == "}":
                kind, text, start, _ = self._take()
                if kind != "string" or self._take()[1] != ":":
                    raise Unreadable('not JSON: a key in "" and a colon are awaited', start)
                self.value((*keys, _string(text, start)), start, holder)
            else:
                self.value(keys, None, holder)
            if self._tokens[self._at][1] == ",":
                self._at += 1
            elif self._tokens[self._at][1] != closing:
                raise Unreadable(f"not JSON: , or {closing} is awaited", self._tokens[self._at][2])
        self._at += 1

    def _take(self) -> _Token:
        token = self._tokens[self._at]
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token


def _string(text: str, start: int) -> str:
    try:
        return str(json.loads(text, strict=False))
    except ValueError as error:
        raise Unreadable(f"not JSON: {error}", start) from error
