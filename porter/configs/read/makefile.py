"""Makefiles: variables, and the shell lines of their recipes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.configs.read import commands
from porter.configs.read.shell import commands as shell_commands
from porter.configs.subjects import Subject, Variable

_ASSIGNMENT = re.compile(r"(?:(?:export|override)[ \t]+)*([A-Za-z_]\w*)[ \t]*(?:[:?+]?=)[ \t]*(.*)")


def subjects(text: str) -> Iterator[Subject]:
    """Yield what a Makefile speaks of."""
    for start, end in _lines(text):
        if text.startswith("\t", start):
            recipe = re.compile(r"[\t @+-]*").match(text, start, end)
            for command in shell_commands(text, recipe.end() if recipe else start, end):
                yield from commands.subjects(command)
            continue
        assigned = _ASSIGNMENT.match(text, start, end)
        if assigned is not None:
            value = re.sub(r"\s+#.*", "", assigned[2]).strip()
            yield Variable(start, assigned.start(2) + len(value), assigned[1], value)
            if "--" in value:
                for command in shell_commands(text, assigned.start(2), end):
                    yield from commands.options(command.words)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield the extent of each line, with those that it goes on in."""
    at = 0
    while at < len(text):
        start = at
        while True:
            line_end = text.find("\n", at)
            line_end = len(text) if line_end < 0 else line_end
            at = line_end + 1
            if not text[start:line_end].endswith("\\") or at >= len(text):
                break
        yield start, line_end
