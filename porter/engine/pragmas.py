"""Pragmas: comments by which an author keeps sites as they are, in rewrite and in check.

`# porter: ignore[PTR101, PTR2] why` keeps what rules with these codes, or whose codes begin so,
report on its line, or, where the comment stands alone, on the next line of code. Lines that are
joined by a backslash or by a string that spans them count as one line; behind closing brackets
that stand alone, where formatters put it, the comment speaks for all that is inside the brackets.
`# porter: skip-file why` keeps the whole file.
"""

from __future__ import annotations

import contextlib
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from porter.engine.source import Source
from porter.model import IDLE_PRAGMA, Finding, Level, Options

MARK = b"porter:"
"""A file without it has no pragma."""

_PRAGMA = re.compile(
    r"#\s*porter:\s*(?P<kind>ignore|skip-file)\b\s*(?:\[(?P<codes>[^\]#]*)\])?\s*(?P<reason>[^#]*)"
)
_SILENT = frozenset({tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT})
_SILENT |= {tokenize.DEDENT, tokenize.ENDMARKER}
_STRING_START = getattr(tokenize, "FSTRING_START", None)
_STRING_END = getattr(tokenize, "FSTRING_END", None)


@dataclass
class Pragma:
    """One pragma: where it stands, what it names, the lines that it speaks for."""

    kind: str
    codes: tuple[str, ...]
    reason: str
    line: int
    column: int
    end_column: int
    lines: range
    used: set[str] = field(default_factory=set)


class Pragmas:
    """The pragmas of one file."""

    def __init__(self, source: Source) -> None:
        """Find the pragmas; a file that can't be read to its end has those before that place."""
        self._source = source
        self._all = list(_find(source)) if MARK in source.data else []

    @property
    def skip_file(self) -> bool:
        """Whether the file is to be left alone."""
        return any(pragma.kind == "skip-file" for pragma in self._all)

    def reason(self, finding: Finding) -> str | None:
        """Return the reason of the pragma that keeps a finding's site, None where none does."""
        reason = None
        for pragma in self._all:
            if pragma.kind == "ignore" and finding.line in pragma.lines:
                for code in pragma.codes:
                    if finding.code.startswith(code):
                        pragma.used.add(code)
                        reason = pragma.reason
        return reason

    def idle(self, options: Options, codes: Iterable[str]) -> Iterator[Finding]:
        """Yield a finding for each pragma that kept nothing, or says nothing.

        Args:
            options: of rules that they leave out it isn't known whether they had found something.
            codes: of all rules.
        """
        known = [*codes]
        for pragma in self._all:
            if pragma.kind == "skip-file":
                continue
            if not pragma.codes:
                yield self._finding(
                    pragma, "names no code, so it keeps nothing: `# porter: ignore[PTR101] why`"
                )
            for code in pragma.codes:
                meant = [each for each in known if each.startswith(code)]
                if not meant:
                    message = (
                        f"no rule about such a file begins with {code}; `porter rules` lists them"
                    )
                    yield self._finding(pragma, message)
                elif code not in pragma.used and all(map(options.wants, meant)):
                    message = f"nothing here for {code} to keep: remove it from this pragma"
                    yield self._finding(pragma, message)

    def _finding(self, pragma: Pragma, message: str) -> Finding:
        return Finding(
            IDLE_PRAGMA,
            Level.MANUAL,
            message,
            pragma.line,
            pragma.column,
            pragma.line,
            pragma.end_column,
            source=self._source.line_text(pragma.line),
            first_line=pragma.line,
        )


def _find(source: Source) -> Iterator[Pragma]:
    tokens = _tokens(source)
    layout = _Layout(source, tokens)
    for at, token in enumerate(tokens):
        match = _PRAGMA.search(token.string) if token.type == tokenize.COMMENT else None
        if match is None:
            continue
        line, column = token.start
        yield Pragma(
            match["kind"],
            tuple(c for part in (match["codes"] or "").split(",") if (c := part.strip().upper())),
            match["reason"].strip(),
            line,
            column + match.start() + 1,
            column + match.end() + 1,
            layout.lines_for(at),
        )


def _tokens(source: Source) -> list[tokenize.TokenInfo]:
    """Return the tokens of the text, as far as it is Python."""
    text = source.data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    tokens: list[tokenize.TokenInfo] = []
    # What is wrong with a text is for the parser to say.
    with contextlib.suppress(tokenize.TokenError, SyntaxError):
        tokens.extend(tokenize.generate_tokens(io.StringIO(text).readline))
    return tokens


class _Layout:
    """Which lines belong together."""

    def __init__(self, source: Source, tokens: list[tokenize.TokenInfo]) -> None:
        self._tokens = tokens
        self._first: dict[int, int] = {}
        """Of a line that goes on from another, that one."""
        self._next: dict[int, int] = {}
        self._brackets: dict[int, int] = {}
        """Of a line with closing brackets alone, the line where the last of them was opened."""
        commented = {t.start[0] for t in tokens if t.type == tokenize.COMMENT}
        for line in range(1, len(source.line_starts)):
            if line not in commented and source.line_text(line).endswith("\\"):
                self._join(line, line + 1)
        self._read_tokens()

    def _read_tokens(self) -> None:
        opened: list[int] = []
        strings: list[int] = []
        alone: dict[int, bool] = {}
        for token in self._tokens:
            line = token.start[0]
            if token.type == tokenize.STRING:
                self._join(line, token.end[0])
            elif token.type == _STRING_START:
                strings.append(line)
            elif token.type == _STRING_END:
                self._join(strings.pop(), token.end[0])
            if token.type in _SILENT:
                continue
            closes = token.string in {")", "]", "}"}
            alone[line] = alone.get(line, True) and (closes or token.string in {",", ":"})
            if token.string in {"(", "[", "{"}:
                opened.append(line)
            elif closes and opened:
                self._brackets[line] = opened.pop()
        for line, is_alone in alone.items():
            if not is_alone:
                self._brackets.pop(line, None)

    def _join(self, first: int, last: int) -> None:
        for line in range(first, last):
            self._next[line] = line + 1
            self._first[line + 1] = line

    def lines_for(self, at: int) -> range:
        """Return the lines that the comment, token number `at`, speaks for."""
        line = self._tokens[at].start[0]
        if self._stands_alone(at):
            behind = (t.start[0] for t in self._tokens[at:] if t.type not in _SILENT)
            line = next(behind, line)
        first, last = self._brackets.get(line, line), line
        while first in self._first:
            first = self._first[first]
        while last in self._next:
            last = self._next[last]
        return range(first, last + 1)

    def _stands_alone(self, at: int) -> bool:
        token = self._tokens[at]
        return not token.line[: token.start[1]].strip()
