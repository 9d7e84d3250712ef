"""Reading JSON piece by piece, to know where each piece stands.

What nobody wants to look into is left to `json`'s own decoder, which tells where it ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

_BLANKS = re.compile(r"[ \t\r\n]*")
_decode = json.JSONDecoder().raw_decode

ReadMember = Callable[[str, int], int]
"""Takes a key and the offset of its value, and returns the offset behind that."""


class Reader:
    """Reads a text; all methods raise `json.JSONDecodeError` where it isn't JSON."""

    def __init__(self, text: str) -> None:
        """Take the text."""
        self._text = text

    def document(self, read: ReadMember) -> None:
        """Read an object that is the whole text."""
        end = self._blanks(self.members(self._blanks(0), read))
        if end != len(self._text):
            raise json.JSONDecodeError("Extra data", self._text, end)

    def members(self, at: int, read: ReadMember) -> int:
        """Read an object, each value with `read`; return the offset behind it."""
        self._expect("{", at)

        def member(at: int) -> int:
            key, at = self.value(at)
            if not isinstance(key, str):
                raise json.JSONDecodeError("Expecting a key", self._text, at)
            at = self._blanks(at)
            self._expect(":", at)
            return read(key, self._blanks(at + 1))

        return self._list(at, "}", member)

    def elements(self, at: int, read: Callable[[int], int]) -> int:
        """Read an array, each element with `read`; return the offset behind it."""
        self._expect("[", at)
        return self._list(at, "]", read)

    def _list(self, at: int, end: str, read: Callable[[int], int]) -> int:
        at = self._blanks(at + 1)
        if self._text.startswith(end, at):
            return at + 1
        while True:
            at = self._blanks(read(at))
            if self._text.startswith(end, at):
                return at + 1
            self._expect(",", at)
            at = self._blanks(at + 1)

    def value(self, at: int) -> tuple[Any, int]:
        """Read whatever stands at an offset; return it and the offset behind it."""
        value: tuple[Any, int] = _decode(self._text, at)
        return value

    def _expect(self, character: str, at: int) -> None:
        if not self._text.startswith(character, at):
            raise json.JSONDecodeError(f"Expecting {character!r}", self._text, at)

    def _blanks(self, at: int) -> int:
        match = _BLANKS.match(self._text, at)
        assert match is not None
        return match.end()
