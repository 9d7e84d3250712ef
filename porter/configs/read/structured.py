"""From the values of YAML, JSON, TOML and INI to what they speak of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from porter.configs.read import commands, packages
from porter.configs.read.leaf import Leaf, beside, groups
from porter.configs.read.shell import Command, Word
from porter.configs.read.shell import commands as shell_commands
from porter.configs.subjects import Image, Index, Requirement, Setting, Subject, Variable

_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_ASSIGNED = re.compile(r"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)=(.*)", re.DOTALL)
_SHELL = frozenset(
    "after_script args before_script bash cmd cmds command commands entrypoint install "
    "install_command oncreatecommand postcreatecommand postinstall run runargs script setup "
    "shell shell_command".split()
)
"""Keys whose values are shell text, or the words of a command."""
_NEEDS = re.compile(
    r"(?:.*[_-])?(?:dependencies|dependency[_-]groups|deps|install_requires|requires|requirements)"
)
_INDEX = re.compile(r"(?:.*_)?(?:index|index_url|find_links|source)")
"""Keys whose values are addresses of packages; a table of such a name may hold a `url`."""
_NAME_KEYS = frozenset({("project", "name"), ("tool", "poetry", "name"), ("metadata", "name")})
"""Where a package says what it is called itself."""
_FREE = frozenset(
    "author authors caption comment comments citation content desc description doc docs "
    "display_name experiment_name exp_name group help id keywords label labels license message "
    "name notes project prompt readme run_name summary tag tags text title topic url".split()
)
"""Keys whose values are text for people, or names that somebody gave."""


def subjects(text: str, leaves: list[Leaf]) -> Iterator[Subject]:
    """Yield what the values of a file speak of.

    Args:
        text: the file's.
        leaves: its values.
    """
    own = {packages.normalised(leaf.value) for leaf in leaves if leaf.keys in _NAME_KEYS}
    for subject in _subjects(text, leaves):
        # An extra that collects others of its own package asks for nothing new.
        if not isinstance(subject, Requirement) or subject.name not in own:
            yield subject


def _subjects(text: str, leaves: list[Leaf]) -> Iterator[Subject]:
    around = beside(leaves)
    for group in groups(leaves):
        key = _key(group[0])
        if group[0].key_start is None and key in _SHELL:
            yield from row(text, group)
            continue
        for leaf in group:
            if leaf.key_start is None:
                yield from _item(text, leaf)
            else:
                yield from _entry(text, leaf, around.get(leaf.holder, {}))


def row(text: str, items: Sequence[Leaf]) -> Iterator[Subject]:
    """Yield what a list of shell lines, or of the words of one command, speaks of."""
    if any(re.search(r"\s", item.value.strip()) for item in items):
        for item in items:
            yield from _script(text, item)
        return
    command = Command([Word(item.value, item.start, item.end) for item in items])
    if items and items[0].value.startswith("-"):  # the arguments of an image's own program
        owner = "docker" if _key(items[0]) == "runargs" else ""
        found = commands.options(command.words, owner)
    else:
        found = commands.subjects(command)
    for subject in found:  # none of which a blank parts from the next
        yield replace(subject, separator=None) if isinstance(subject, Variable) else subject


def _item(text: str, leaf: Leaf) -> Iterator[Subject]:
    key = _key(leaf)
    assigned = _ASSIGNED.fullmatch(leaf.value)
    if assigned is not None:
        yield Variable(leaf.start, leaf.end, assigned[1], assigned[2], leaf.separator)
    elif any(_NEEDS.fullmatch(k) for k in leaf.keys) or "extras_require" in "".join(leaf.keys):
        manager = "conda" if leaf.keys == ("dependencies",) else "pip"
        yield from _asked(text, leaf, manager)
    elif key not in _FREE:
        yield Setting(leaf.start, leaf.end, leaf.keys, leaf.value)


def _asked(text: str, leaf: Leaf, manager: str) -> Iterator[Subject]:
    if leaf.value.startswith("-"):  # pip's options in a conda environment
        for subject in packages.listed(leaf.value):
            if isinstance(subject, Index):
                yield Index(leaf.start, leaf.end, subject.url)
        return
    asked = packages.requirement(leaf.value, leaf.start, manager)
    if asked is not None:
        yield packages.placed(asked, leaf.start, leaf.end)


def _entry(text: str, leaf: Leaf, around: dict[str, str]) -> Iterator[Subject]:
    key, start = _key(leaf), leaf.key_start if leaf.key_start is not None else leaf.start
    if "\n" in text[start : leaf.start]:
        start = leaf.start
    if _VARIABLE.fullmatch(leaf.key):
        yield Variable(start, leaf.end, leaf.key, leaf.value, leaf.separator)
    elif leaf.key == "value" and _VARIABLE.fullmatch(around.get("name", "")):
        yield Variable(start, leaf.end, around["name"], leaf.value)
    elif key in _SHELL:
        yield from _script(text, leaf)
    elif key == "options" and leaf.value.startswith("-"):  # of a workflow's container
        yield from _options(text, leaf)
    elif "image" in key or key == "container":
        yield Image(start, leaf.end, leaf.value)
    elif _INDEX.fullmatch(key) or (key == "url" and any(map(_INDEX.fullmatch, leaf.keys[:-1]))):
        yield Index(start, leaf.end, leaf.value)
    elif len(leaf.keys) > 1 and (needed := _needed(leaf)) and leaf.keys[0] in ("tool", "project"):
        asked = packages.requirement(f"{needed}@{leaf.value}", start)
        if asked is not None and leaf.key in (needed, "version", "git", "url"):
            yield packages.placed(asked, start, leaf.end)
    elif key not in _FREE:
        yield Setting(start, leaf.end, leaf.keys, leaf.value)


def _needed(leaf: Leaf) -> str:
    """Return the key behind a table of dependencies: Poetry's way to ask for a package."""
    for at, key in enumerate(leaf.keys[:-1]):
        if _NEEDS.fullmatch(key):
            return leaf.keys[at + 1]
    return ""


def _script(text: str, leaf: Leaf) -> Iterator[Subject]:
    start, end = _inside(text, leaf)
    for command in shell_commands(text, start, end):
        yield from commands.subjects(command)


def _options(text: str, leaf: Leaf) -> Iterator[Subject]:
    for command in shell_commands(text, *_inside(text, leaf)):
        yield from commands.options(command.words, "docker")


def _inside(text: str, leaf: Leaf) -> tuple[int, int]:
    """Return the extent of a value without its quotes, or the line that introduces a block."""
    if leaf.is_block:
        return min(text.find("\n", leaf.start) + 1, leaf.end), leaf.end
    quotes = 3 if text.startswith(('"""', "'''"), leaf.start) else 1
    if text.startswith(('"', "'"), leaf.start) and leaf.end - leaf.start >= 2 * quotes:
        return leaf.start + quotes, leaf.end - quotes
    return leaf.start, leaf.end


def _key(leaf: Leaf) -> str:
    return leaf.key.lower().replace("-", "_")
