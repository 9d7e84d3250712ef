"""A file's bytes as the engine works on them: UTF-8 without a BOM, and the way back."""

from __future__ import annotations

import ast
import bisect
import codecs
import io
import re
import sys
import tokenize
import warnings
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TypeAlias

from porter.engine.recursion import recursion_limit

_COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*[-\w.]+")
"""The declaration of an encoding, as PEP 263 has it."""


Placed: TypeAlias = (
    ast.expr | ast.stmt | ast.excepthandler | ast.pattern | ast.arg | ast.keyword | ast.alias
)
"""What `ast` knows the place of."""


class SourceError(Exception):
    """The file can't be read as Python source; `line` (from 1) says where, if that is known."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


@dataclass(frozen=True)
class Source:
    """Python source as UTF-8 bytes, in which `ast`'s column offsets count.

    Offsets are into `data`; lines and columns count from 1, columns in characters.
    """

    data: bytes
    encoding: str
    bom: bytes

    @classmethod
    def decode(cls, raw: bytes) -> Source:
        """Read a file's bytes by its BOM and coding cookie.

        Raises:
            SourceError: the bytes are not text in the declared encoding (UTF-8 where none is
                declared), or don't survive the way there and back.
        """
        bom = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        except SyntaxError as error:
            if not any(_COOKIE.match(line) for line in raw.splitlines()[:2]):
                cls._check_utf8(raw[len(bom) :])  # it names the byte
            raise SourceError(f"cannot read the file: {error}; mend its coding cookie") from error
        encoding = "utf-8" if encoding == "utf-8-sig" else encoding
        body = raw[len(bom) :]
        if encoding == "utf-8":
            cls._check_utf8(body)
            return cls(body, encoding, bom)
        try:
            text = body.decode(encoding)
            if text.encode(encoding) != body:
                raise SourceError(f"the bytes don't survive decoding as {encoding} and encoding")
        except (UnicodeError, LookupError) as error:
            raise SourceError(f"not {encoding}, which its cookie declares: {error}") from error
        return cls(text.encode("utf-8"), encoding, bom)

    @staticmethod
    def _check_utf8(body: bytes) -> None:
        try:
            body.decode("utf-8")
        except UnicodeDecodeError as error:
            line = body.count(b"\n", 0, error.start) + 1
            raise SourceError(
                f"not UTF-8 at byte {error.start}: 0x{body[error.start]:02x}, and no coding cookie "
                "declares another encoding; add one, or convert the file to UTF-8",
                line,
            ) from error

    def encode(self, data: bytes) -> bytes:
        """Return new UTF-8 text as bytes of the file, in its own encoding.

        Raises:
            SourceError: the text has a character that the file's encoding lacks.
        """
        if self.encoding == "utf-8":
            return self.bom + data
        try:
            return data.decode("utf-8").encode(self.encoding)
        except UnicodeEncodeError as error:
            raise SourceError(f"the new text can't be written as {self.encoding}") from error

    def parse(self) -> ast.Module:
        """Parse the text.

        Raises:
            SourceError: it is not Python that the running interpreter can parse.
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the user's SyntaxWarnings are not ours to print
                return _parse(self.data.decode("utf-8"))
        except SyntaxError as error:
            raise SourceError(
                _syntax_hint(error), error.lineno or 1, max(error.offset or 1, 1)
            ) from error
        except (ValueError, RecursionError, MemoryError) as error:
            message = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise SourceError(f"cannot be parsed ({message})") from error

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset of each line's first byte, by Python's own idea of a line."""
        lines = self.data.splitlines(keepends=True)  # of bytes: never at form feeds or U+2028
        return [0, *accumulate(map(len, lines))]

    def offset(self, line: int, column: int) -> int:
        """Return the offset of an `ast` position (line from 1, column in UTF-8 bytes from 0)."""
        return self.line_starts[line - 1] + column

    def extent(self, node: Placed) -> tuple[int, int]:
        """Return the offsets at which a node of the text's tree begins and ends."""
        end = self.offset(node.end_lineno or 1, node.end_col_offset or 0)
        return self.offset(node.lineno, node.col_offset), end

    def first_line(self, statement: ast.stmt) -> int:
        """Return the line on which a statement begins: that of its first decorator's `@`."""
        decorators = getattr(statement, "decorator_list", None)
        if not decorators:
            return statement.lineno
        line: int = decorators[0].lineno
        while line > 1 and not self.line_text(line).lstrip().startswith("@"):
            line -= 1  # `@(` with the expression on a line of its own
        return line

    def line_of(self, offset: int) -> int:
        """Return the line, from 1, on which the offset lies."""
        return bisect.bisect_right(self.line_starts, offset, hi=len(self.line_starts) - 1 or 1)

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column, both from 1, the column in characters."""
        line = self.line_of(offset)
        start = self.line_starts[line - 1]
        if self._is_ascii:
            return line, offset - start + 1
        before = self.data[start:offset]
        return line, len(before.decode("utf-8", "replace")) + 1

    def line_length(self, line: int) -> int:
        """Return the bytes of a line, its line end included."""
        end = self.line_starts[line] if line < len(self.line_starts) else len(self.data)
        return end - self.line_starts[line - 1]

    def line_text(self, line: int) -> str:
        """Return a line without its line end."""
        start = self.line_starts[line - 1]
        return self.data[start : start + self.line_length(line)].decode("utf-8").rstrip("\r\n")

    @cached_property
    def _is_ascii(self) -> bool:
        return self.data.isascii()

    @cached_property
    def newline(self) -> str:
        r"""The line end of the file's first line, `\n` where it has none."""
        head = self.data[: self.line_starts[1]] if len(self.line_starts) > 1 else b""
        if head.endswith(b"\r\n"):
            return "\r\n"
        return "\r" if head.endswith(b"\r") else "\n"


def _parse(text: str) -> ast.Module:
    """Parse, if need be with room for chains of some thousand links."""
    try:
        return ast.parse(text)
    except RecursionError:
        with recursion_limit(4_000):
            return ast.parse(text)


def _syntax_hint(error: SyntaxError) -> str:
    """Say what can't be parsed, and what is likely behind it."""
    text = (error.text or "").strip()
    hint = "if it is written for a newer Python, run porter with that Python"
    if "async=" in text.replace(" ", ""):
        hint = "`async` became a keyword in Python 3.7: write non_blocking= instead"
    elif text.startswith(("print ", "exec ")) or (text.startswith("except ") and "," in text):
        hint = "this looks like Python 2: convert it to Python 3 first"
    version = ".".join(map(str, sys.version_info[:2]))
    return f"cannot be parsed as Python {version}: {error.msg}; {hint}"
