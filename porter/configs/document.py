"""A file of configuration by its kind: what it speaks of, and its values for the guard."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from porter import kinds
from porter.configs.read import commands, docker, ini, json, makefile, packages, shell, toml, yaml
from porter.configs.read.leaf import Leaf
from porter.configs.read.structured import subjects as structured
from porter.configs.subjects import Subject

_LEAVES: dict[str, Callable[[str], list[Leaf]]] = {
    kinds.INI: ini.leaves,
    kinds.JSON: json.leaves,
    kinds.TOML: toml.leaves,
    kinds.YAML: yaml.leaves,
}


def leaves(text: str, kind: str) -> list[Leaf]:
    """Return the single values of a file; none where its kind has no structure of its own.

    Raises:
        Unreadable: the text is not of this kind.
    """
    return _LEAVES[kind](text) if kind in _LEAVES else []


def subjects(text: str, kind: str) -> list[Subject]:
    """Return what a file speaks of, by place.

    Args:
        text: the file's.
        kind: as `porter.kinds` names it.

    Raises:
        Unreadable: the text is not of this kind.
    """
    return sorted(_subjects(text, kind), key=lambda subject: (subject.start, subject.end))


def _subjects(text: str, kind: str) -> Iterator[Subject]:
    if kind in _LEAVES:
        yield from structured(text, leaves(text, kind))
    elif kind == kinds.DOCKERFILE:
        yield from docker.subjects(text)
    elif kind == kinds.MAKEFILE:
        yield from makefile.subjects(text)
    elif kind == kinds.REQUIREMENTS:
        yield from packages.listed(text)
    elif kind == kinds.SHELL:
        for command in (*shell.commands(text), *shell.directives(text)):
            yield from commands.subjects(command)
