"""What a command speaks of: variables, programs, their options, packages, images."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from porter.configs.read import packages
from porter.configs.read.shell import Command, Word
from porter.configs.subjects import Image, Setting, Subject, Tool, Variable

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)\+?=")
_LEADS = frozenset(
    "! { command do elif else env exec export if nohup sudo then time until while".split()
)
"""Words behind which a command goes on, or an assignment stands."""
_DECLARES = frozenset({"declare", "export", "local", "readonly", "typeset", "unset"})
_SAYS = frozenset({"cat", "cd", "echo", "fail", "grep", "info", "log", "ls", "printf", "warn"})
"""Programs whose words are text or names of files."""
_TOOLS = re.compile(r"nvidia-smi|nvcc|nsys|ncu|nvprof|dcgmi|nvidia-cuda-mps-\w+|nvidia-docker")
_CONTAINERS = frozenset({"docker", "podman", "nerdctl", "nvidia-docker"})
_FLAGS = frozenset({"detach", "init", "interactive", "privileged", "rm", "tty"})
"""Options of `docker run` without a value."""
_LAUNCHERS = frozenset({"accelerate", "deepspeed", "torchrun", "srun", "salloc", "sbatch", "pbs"})
_SUBCOMMANDS = frozenset({"container", "create", "launch", "run"})
_OVERRIDE = re.compile(r"[+~]{0,2}([A-Za-z_][\w.@/-]*)=(.*)", re.DOTALL)


def subjects(command: Command) -> Iterator[Subject]:
    """Yield what a command speaks of."""
    words = command.words
    if command.is_arguments:
        yield from options(words)
        return
    at = 0
    lead = ""
    while at < len(words):
        assigned = _ASSIGNMENT.match(words[at].text)
        if words[at].text in _LEADS and not words[at].is_quoted:
            lead = words[at].text
        elif assigned is None:
            break
        else:
            goes_on = len(words) > at + 1 or lead in ("export", "env")
            yield _assigned(words[at], " " if goes_on else None)
        at += 1
    rest = words[at:]
    if not rest:
        return
    program = rest[0].text.rpartition("/")[2]
    if lead == "export" or program in _DECLARES:
        yield from _declared(rest)
        return
    if program in _SAYS:
        return
    yield from (Tool(w.start, w.end, name) for w in rest if (name := _tool(w)))
    installed = list(packages.installed(rest))
    yield from installed or options(rest, _owner(program, rest))


def _owner(program: str, words: Sequence[Word]) -> str:
    """Return what the options of a command are for, "" for any program of the user's own."""
    if program in _CONTAINERS:
        return "docker" if any(w.text in ("run", "create") for w in words) else ""
    return program if program in _LAUNCHERS else ""


def _assigned(word: Word, separator: str | None) -> Variable:
    """Return the variable that `NAME=value` sets."""
    name, _, value = word.text.partition("=")
    return Variable(word.start, word.end, name.rstrip("+"), value, separator)


def _declared(words: Sequence[Word]) -> Iterator[Subject]:
    for word in words:
        if _ASSIGNMENT.match(word.text):
            yield _assigned(word, None)
        elif re.fullmatch(r"[A-Za-z_]\w*", word.text):
            yield Variable(word.start, word.end, word.text, None)


def _tool(word: Word) -> str:
    """Return the name of NVIDIA's tool that a word calls, "" where it is none."""
    name = "" if word.is_quoted else word.text.rpartition("/")[2]
    return name if _TOOLS.fullmatch(name) else ""


def options(words: Sequence[Word], owner: str = "") -> Iterator[Subject]:
    """Yield the options and overrides among words as settings.

    Args:
        words: of a command.
        owner: the program that they are for, as far as they stand before what it runs in its
            turn: "docker", "accelerate", "sbatch", ...
    """
    at = 0
    while at < len(words):
        word, following = words[at], words[at + 1] if at + 1 < len(words) else None
        at += 1
        name, equals, value = word.text.partition("=")
        if name.startswith("--") and len(name) > 2:
            end = word.end
            if not equals:
                value = "true"
                if following is not None and not _stands_alone(name, following, owner):
                    value, end = following.text, following.end
                    at += 1
            if owner == "docker" and name == "--env":
                yield _handed_on(word.start, end, value)
            else:
                yield Setting(word.start, end, tuple(name[2:].split(".")), value, owner)
        elif word.text.startswith("-"):
            if owner == "docker" and word.text == "-e" and following is not None:
                yield _handed_on(word.start, following.end, following.text)
            at += owner != "" and following is not None and not _is_flag(word, following)
        elif (override := _OVERRIDE.fullmatch(word.text)) is not None:
            keys = tuple(re.split(r"[./@]", override[1]))
            yield Setting(word.start, word.end, keys, override[2], owner)
        elif owner and at > 1 and word.text not in _SUBCOMMANDS:
            if owner == "docker":
                yield Image(word.start, word.end, word.text)
            owner = ""


def _is_flag(word: Word, following: Word) -> bool:
    """Whether a short option takes no value, as far as can be told: `docker run -it`."""
    return following.text.startswith("-") or re.fullmatch(r"-[ditP]+", word.text) is not None


def _stands_alone(option: str, following: Word, owner: str) -> bool:
    """Whether an option takes no value, as far as can be told."""
    return following.text.startswith("-") or (owner == "docker" and option[2:] in _FLAGS)


def _handed_on(start: int, end: int, text: str) -> Variable:
    name, equals, value = text.partition("=")
    return Variable(start, end, name, value if equals else None)
