"""Shell text: its commands, each a row of words with their places.

This is no shell: it finds which words a script may run, never what it would do. Words keep their
variables (`$GPU`); commands inside `$( )` and backticks are commands of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

_BLANK = " \t\r"
_PLAIN = re.compile(r"[\w./:=,@%+-]+")
"""Characters that mean themselves."""
_ENDS = ";&|()\n"
_HEREDOC = re.compile(r"<<-?\s*(['\"\\]?)([A-Za-z_][\w.-]*)\1?")
_REDIRECTION = re.compile(r"(?:\d*|&)(?:>>|>\||>&|<&|<>|>|<)&?(?:\d+|-)?")
_KEPT = re.compile(r"\w+\+?=[\"']")
_DEEPEST = 9
"""How many commands may stand inside each other for the innermost to be looked at."""
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh"})


@dataclass(frozen=True)
class Word:
    """A word: its text without quotes, and where it stands, quotes included."""

    text: str
    start: int
    end: int
    is_quoted: bool = False


@dataclass
class Command:
    """A simple command: all its words, assignments before it among them.

    With `is_arguments` it is a list of arguments that a variable keeps for later.
    """

    words: list[Word] = field(default_factory=list)
    is_arguments: bool = False


def commands(text: str, start: int = 0, end: int | None = None, depth: int = 0) -> list[Command]:
    """Return the commands in a part of a text, in their order.

    Args:
        text: the file's.
        start: where the shell text starts, in characters.
        end: where it ends; None for the end of the file.
        depth: how many commands it stands inside of.
    """
    return _Reader(text, len(text) if end is None else end, depth).read(start)


def directives(text: str) -> Iterator[Command]:
    """Yield what a batch system is asked for: the words of each `#SBATCH` or `#PBS` line."""
    for found in re.finditer(r"^#(SBATCH|PBS|BSUB)(?=[ \t])", text, re.MULTILINE):
        line_end = text.find("\n", found.end())
        line_end = len(text) if line_end < 0 else line_end
        tool = Word(found[1].lower(), found.start(1), found.end(1))
        for command in commands(text, found.end(), line_end)[:1]:
            yield Command([tool, *command.words])


class _Reader:
    """The state of reading one text."""

    def __init__(self, text: str, end: int, depth: int) -> None:
        self._text = text
        self._end = end
        self._depth = depth
        self._done: list[Command] = []
        self._inner: list[tuple[int, int]] = []
        """Texts that are commands of their own."""
        self._terminators: list[str] = []

    def read(self, at: int) -> list[Command]:
        command = Command()
        while at < self._end:
            char = self._text[at]
            if char == "\\" and self._text[at + 1 : at + 3].startswith(("\n", "\r\n")):
                at = self._text.index("\n", at) + 1
            elif char in _BLANK:
                at += 1
            elif char == "#":
                at = self._line_end(at)
            elif char in _ENDS:
                command = self._finish(command)
                at = self._after_heredocs(at + 1) if char == "\n" else at + 1
            elif (heredoc := _HEREDOC.match(self._text, at, self._end)) is not None:
                self._terminators.append(heredoc[2])
                at = heredoc.end()
            elif (away := _REDIRECTION.match(self._text, at, self._end)) and away.end() > at:
                at = away.end()
            else:
                word = self._word(at)
                command.words.append(word)
                at = word.end
        self._finish(command)
        if self._depth < _DEEPEST:
            for start, end in self._inner:
                self._done += commands(self._text, start, end, self._depth + 1)
        return self._done

    def _finish(self, command: Command) -> Command:
        if command.words:
            self._done.append(command)
            self._look_into(command.words)
        return Command()

    def _look_into(self, words: list[Word]) -> None:
        """Read what `bash -c "..."` is given, and what `ARGS="--device cuda"` keeps."""
        for runner, option, script in zip(words, words[1:], words[2:], strict=False):
            is_shell = runner.text.rpartition("/")[2] in _SHELLS
            if is_shell and re.fullmatch(r"-\w*c", option.text) and script.is_quoted:
                self._inner.append((script.start + 1, script.end - 1))
        for word in words:
            kept = _KEPT.match(self._text, word.start, word.end) if word.is_quoted else None
            if kept is not None and "--" in word.text and self._depth < _DEEPEST:
                for command in commands(self._text, kept.end(), word.end - 1, _DEEPEST):
                    self._done.append(replace(command, is_arguments=True))

    def _line_end(self, at: int) -> int:
        end = self._text.find("\n", at, self._end)
        return self._end if end < 0 else end

    def _after_heredocs(self, at: int) -> int:
        for terminator in self._terminators:
            while at < self._end:
                line_end = self._line_end(at)
                line = self._text[at:line_end].strip()
                at = min(line_end + 1, self._end)
                if line == terminator:
                    break
        self._terminators.clear()
        return at

    def _word(self, start: int) -> Word:
        at, quoted = start, False
        parts: list[str] = []
        while at < self._end and self._text[at] not in _BLANK + _ENDS + "<>":
            char = self._text[at]
            if char in "'\"":
                inner, at = self._string(at)
                parts.append(inner)
                quoted = True
            elif char == "\\":
                if self._text[at + 1 : at + 3].startswith(("\n", "\r\n")):
                    break
                parts.append(self._text[at + 1 : at + 2])
                at += 2
            elif self._text.startswith(("$(", "${"), at) or char == "`":
                behind = self._substitution(at)
                parts.append(self._text[at:behind])
                at = behind
            else:
                plain = _PLAIN.match(self._text, at, self._end)
                behind = plain.end() if plain else at + 1
                parts.append(self._text[at:behind])
                at = behind
        at = min(max(at, start + 1), self._end)
        return Word("".join(parts), start, at, quoted)

    def _string(self, at: int) -> tuple[str, int]:
        """Return what a string holds, and where it ends."""
        quote, start = self._text[at], at + 1
        at = start
        while at < self._end and self._text[at] != quote:
            if quote == '"' and self._text[at] == "\\":
                at += 2
            elif quote == '"' and (self._text.startswith("$(", at) or self._text[at] == "`"):
                at = self._substitution(at)
            else:
                at += 1
        end = min(at, self._end)
        return self._text[start:end].replace(f"\\{quote}", quote), min(end + 1, self._end)

    def _substitution(self, at: int) -> int:
        """Return where `$( )`, `${ }` or backticks end; commands inside are read later."""
        if self._text[at] == "`":
            behind = self._text.find("`", at + 1, self._end)
            behind = self._end if behind < 0 else behind
            self._inner.append((at + 1, behind))
            return min(behind + 1, self._end)
        opening, closing = ("(", ")") if self._text[at + 1] == "(" else ("{", "}")
        depth, inside = 0, at + 2
        for place in range(at + 1, self._end):
            depth += (self._text[place] == opening) - (self._text[place] == closing)
            if depth == 0:
                if opening == "(":
                    self._inner.append((inside, place))
                return place + 1
        return self._end
