"""Dockerfiles: their instructions, and what each speaks of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.configs.read import commands, json
from porter.configs.read.leaf import Unreadable
from porter.configs.read.shell import commands as shell_commands
from porter.configs.read.structured import row
from porter.configs.subjects import Image, Subject, Variable

_INSTRUCTION = re.compile(r"[ \t]*([A-Za-z]+)[ \t]+(?:--\w+=\S+[ \t]+)*")
_COMMENT = re.compile(r"^[ \t]*#[^\n]*$", re.MULTILINE)
_RUNS = frozenset({"RUN", "CMD", "ENTRYPOINT"})
_HEREDOC = re.compile(r"<<-?[\"']?(\w+)[\"']?")


def subjects(text: str) -> Iterator[Subject]:
    """Yield what a Dockerfile speaks of."""
    plain = _COMMENT.sub(lambda found: " " * len(found[0]), text)
    for start, end in _instructions(plain):
        head = _INSTRUCTION.match(plain, start, end)
        if head is None:
            continue
        name, at = head[1].upper(), head.end()
        if name in ("ONBUILD", "HEALTHCHECK"):
            head = _INSTRUCTION.match(plain, at, end)
            name, at = (head[1].upper(), head.end()) if head else ("", at)
        if name in _RUNS:
            yield from _run(plain, at, end)
        elif name in ("ENV", "ARG"):
            yield from _set(plain, at, end, " " if name == "ENV" else None)
        elif name == "FROM":
            yield from _image(plain, at, end)


def _instructions(text: str) -> Iterator[tuple[int, int]]:
    """Yield the extent of each instruction, with the lines that it goes on in."""
    start = at = 0
    goes_on = False
    terminators: list[str] = []
    for line in text.splitlines(keepends=True):
        at += len(line)
        bare = line.strip()
        if terminators:
            if bare == terminators[0]:
                terminators.pop(0)
        elif bare or not goes_on:  # a blank line, where a comment was, ends no instruction
            terminators = _HEREDOC.findall(bare)
            goes_on = bare.endswith("\\")
        if not terminators and not goes_on:
            yield start, at
            start = at
    if start < at:
        yield start, at


def _run(text: str, start: int, end: int) -> Iterator[Subject]:
    if text.startswith("[", start):
        try:
            leaves = json.leaves(" " * start + text[start:end])
        except Unreadable:
            return
        yield from row(text, leaves)
        return
    heredoc = _HEREDOC.match(text, start)
    for command in shell_commands(text, heredoc.end() if heredoc else start, end):
        yield from commands.subjects(command)


def _set(text: str, start: int, end: int, separator: str | None) -> Iterator[Subject]:
    for command in shell_commands(text, start, end):
        for at, word in enumerate(command.words):
            name, equals, value = word.text.partition("=")
            if not equals:
                if at == 0 and len(command.words) > 1:  # ENV NAME value
                    last = command.words[-1]
                    value = text[command.words[1].start : last.end]
                    yield Variable(word.start, last.end, name, value)
                break
            yield Variable(word.start, word.end, name, value, separator)
            if "/" in value:
                yield Image(word.end - len(value), word.end, value)


def _image(text: str, start: int, end: int) -> Iterator[Subject]:
    found = re.compile(r"\S+").match(text, start, end)
    if found is not None:
        yield Image(found.start(), found.end(), found[0])
