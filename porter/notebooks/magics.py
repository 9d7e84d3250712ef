"""What IPython adds to Python: which characters of a cell are Python, which are for a shell.

The syntax: https://ipython.readthedocs.io/en/stable/interactive/magics.html and
https://ipython.readthedocs.io/en/stable/interactive/reference.html.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, field

from porter.engine.source import Source, SourceError

_PYTHON = frozenset({"%%time", "%%timeit", "%%capture", "%%prun", "%%memit", "%%mprun"})
"""Cell magics whose cell is Python that shares its names with the others."""
_SHELLS = frozenset({"%%!", "%%bash", "%%sh", "%%sx", "%%system", "%%zsh"})
_SHELL_SCRIPT = re.compile(r"%%script\s.*\b(?:bash|sh|zsh)\b")
_WRITES = re.compile(r"%%(?:writefile|file)\s+(?P<append>-a\s+|--append\s+)?(?P<name>\S+)\s*$")
_RUNS = re.compile(
    r"%(?:time\b|prun\b|memit\b|timeit\b(?:[ \t]+-(?:[nrp][ \t]*\d+|[tcqov]))*)[ \t]+"
)
"""A line magic with Python behind it."""
_CODE_MAGIC = re.compile(r"%(?:time|timeit|prun|memit|mprun|lprun|debug|snakeviz|scalene)\b")
"""A line magic that takes Python, in whatever form."""
_PROSE = frozenset(
    """
    %%HTML %%R %%SVG %%bigquery %%cmd %%css %%html %%javascript %%js %%latex %%markdown %%mermaid
    %%perl %%ruby %%sql %%svg
    """.split()
)
"""Cell magics whose cell holds nothing of CUDA, whatever it speaks of."""
_SHELL_MAGIC = re.compile(r"%(?:env|set_env|sx|system|run|pip|conda|mamba|micromamba)\b")
_INSTALLER = re.compile(r"%(?=pip|conda|mamba|micromamba)")
"""Of these the name itself is what a shell would be told."""
_COMMAND = re.compile(r"(?:[^\\\n]|\\.)*", re.S)
"""The rest of a line, and what a backslash at its end joins to it."""
_ESCAPES = ("!", "%", "?", "/", ",", ";")
_TOKEN = re.compile(
    r"""
      (?P<comment>\#[^\n]*)
    | (?P<string>'''(?:\\.|[^\\])*?''' | \"""(?:\\.|[^\\])*?\"""
                 | '(?:\\.|[^'\\\n])*' | "(?:\\.|[^"\\\n])*")
    | (?P<open>[(\[{]) | (?P<close>[)\]}])
    | (?P<joined>\\\r?\n)
    | (?P<end>\n)
    | (?P<assigned>(?<![=!<>:+\-*/%&|^@])=[ \t]*(?=[!%]))
    | (?P<help>\?)
    """,
    re.X | re.S,
)


@dataclass
class Code:
    """A cell's source, sorted.

    `python` and `shell` are as long as the source, each with blanks for what is the other's or
    nobody's. `written` is the name of the file that the cell writes instead of running it, if it
    does; its text is the source behind `body`. `unread` are the stretches that may hold code which
    nobody reads.
    """

    python: str
    shell: str
    written: str = ""
    body: int = 0
    unread: list[range] = field(default_factory=list)


def sort(source: str) -> Code:
    """Tell apart what a code cell consists of."""
    start = _first_line(source)
    unread: list[range] = []
    while source.startswith("%%", start):
        line = source[start:].partition("\n")[0]
        body = min(start + len(line) + 1, len(source))
        name = line.split()[0]
        if name in _SHELLS or _SHELL_SCRIPT.match(line):
            return Code(_blank(source), _blank(source[:body]) + source[body:])
        written = _WRITES.match(line)
        if written is not None and not written["append"]:
            # The file is UTF-8 whatever it begins with.
            body += source.startswith("\ufeff", body)
            return Code(_blank(source), _blank(source), written["name"], body)
        if name not in _PYTHON:
            if name not in _PROSE:
                unread.append(range(start, len(source)))
            return Code(_blank(source), _blank(source), unread=unread)
        unread.append(range(start, start + len(line)))  # `%%timeit x = y.cuda()` prepares a run
        start = _first_line(source, body)
    return _Sorter(source, start, unread).code()


def _first_line(source: str, at: int = 0) -> int:
    """Return where the first line that isn't blank starts."""
    text = source[at:]
    return source.rfind("\n", 0, len(source) - len(text.lstrip())) + 1 if text.strip() else at


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


class _Sorter:
    """Goes through the logical lines of a cell."""

    def __init__(self, source: str, start: int, unread: list[range]) -> None:
        self.source = source
        self.start = start
        self.unread = unread
        self.python = list(_blank(source[:start]) + source[start:])
        self.shell = list(_blank(source))

    def code(self) -> Code:
        at = self.start
        while at < len(self.source):
            first = at
            while self.source.startswith((" ", "\t"), first):
                first += 1
            if self.source.startswith(_ESCAPES, first):
                at = self._escaped(first, "()" if first > at else "")
            else:
                at = self._statement(first, "()" if first > at else "")
        return Code("".join(self.python), "".join(self.shell), unread=self.unread)

    def _statement(self, start: int, instead: str) -> int:
        """Read a logical line of Python; return where the next one starts."""
        depth = 0
        asks = False
        end = len(self.source)
        for token in _TOKEN.finditer(self.source, start):
            match token.lastgroup:
                case "open":
                    depth += 1
                case "close":
                    depth -= 1
                case "assigned" if depth <= 0:
                    return self._escaped(token.end(), "()", is_value=True)
                case "help":
                    asks = True
                case "end" if depth <= 0:
                    end = token.start()
                    break
        if asks:
            self._hide(start, end, instead)
        return end + 1

    def _escaped(self, start: int, instead: str, *, is_value: bool = False) -> int:
        """Sort what IPython alone understands, up to the line's end; return where the next starts.

        Args:
            start: where it begins.
            instead: the Python that has to take its place.
            is_value: whether something is assigned to.
        """
        match = _COMMAND.match(self.source, start)
        assert match is not None, "it matches nothing, too"
        text, end = match[0], match.end()
        runs = _RUNS.match(text)
        if runs is not None and not is_value and _is_statement(text[runs.end() :]):
            # No longer than the shortest of these magics, and not in need of a line of its own.
            self._put(start, "if 1: ".ljust(runs.end()))
            return end + 1
        self._hide(start, end, instead)
        command = self._command(text)
        if command is not None:
            self.shell[start:end] = list(command)
        elif _CODE_MAGIC.match(text):
            self.unread.append(range(start, end))
        return end + 1

    @staticmethod
    def _command(text: str) -> str | None:
        """Return what a shell is told, as long as the text, None where none is told anything."""
        if text.startswith("!"):
            return text.lstrip("!").rjust(len(text))
        magic = _SHELL_MAGIC.match(text)
        if magic is None:
            return None
        named = _INSTALLER.match(text)
        return text[(named or magic).end() :].rjust(len(text))

    def _hide(self, start: int, end: int, instead: str) -> None:
        self._put(start, _blank(self.source[start:end]))
        self._put(start, instead)

    def _put(self, start: int, text: str) -> None:
        self.python[start : start + len(text)] = list(text)


def _is_statement(text: str) -> bool:
    """Whether a text can stand behind `if 1:`."""
    with contextlib.suppress(SourceError):
        Source(f"if 1: {text}\n".encode(), "utf-8", b"").parse()
        return True
    return False
