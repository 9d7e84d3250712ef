"""Packages that are asked for: by pip, conda and the system's own manager."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from porter.configs.read.shell import Word
from porter.configs.subjects import Index, Requirement, Subject

_NAME = re.compile(r"([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?")
_SPECIFIED = re.compile(r"[A-Za-z0-9][\w.-]*\s*(?:\[[^\]]*\])?\s*(?:[=<>!~@;(,].*|\Z)", re.DOTALL)
_LONGEST = 500
"""Characters; what is longer states no requirement."""
_CONDA = re.compile(r"(?:[\w.-]+::)?([A-Za-z0-9][\w.-]*)\s*(?:[=<>!\[ ].*)?\Z")
"""A package of conda's: channel::name=version=build."""
_REPOSITORY = re.compile(r"#egg=([\w.-]+)|/([\w.-]+?)(?:\.git)?(?:@[^/]*)?/?\Z")
_WHEEL = re.compile(r"([A-Za-z0-9_.]+)-[^/]*\.whl\Z")
_INDEX = frozenset({"-f", "-i", "--extra-index-url", "--find-links", "--index-url"})
_INDEX |= {"--index", "--default-index"}
_VALUED = frozenset({"-c", "-e", "-n", "-p", "-r", "-t", "--channel", "--constraint", "--name"})
_VALUED |= {"--prefix", "--python", "--requirement", "--target", "--torch-backend"}
_MANAGERS = {
    "apt": "apt",
    "apt-get": "apt",
    "conda": "conda",
    "dnf": "apt",
    "mamba": "conda",
    "micromamba": "conda",
    "pip": "pip",
    "pip3": "pip",
    "uv": "pip",
    "poetry": "pip",
    "yum": "apt",
}
_INSTALLS = frozenset({"add", "create", "download", "install", "wheel"})


def normalised(name: str) -> str:
    """Return a package's name as PyPI compares it: https://peps.python.org/pep-0503/."""
    return re.sub(r"[-_.]+", "-", name).lower()


def requirement(text: str, start: int, manager: str = "pip") -> Requirement | None:
    """Return the requirement that a text states, None where it states none.

    Args:
        text: one line of requirements, or one word of a command.
        start: where it starts, in characters.
        manager: whose way of writing it is: "pip", "conda" or "apt".
    """
    bare = text.strip()
    name = _name(bare, manager) if len(bare) < _LONGEST else None
    if name is None:
        return None
    begin = start + text.index(bare)
    name = name if manager == "apt" else normalised(name)
    return Requirement(begin, begin + len(bare), name, bare, manager)


def _name(text: str, manager: str) -> str | None:
    found = _WHEEL.search(text)
    if found is None and text.startswith(("git+", "http://", "https://")):
        found = _REPOSITORY.search(text)
    elif found is None and manager == "apt":
        return text.partition("=")[0] or None
    elif found is None and manager == "conda":
        found = _CONDA.match(text)
    elif found is None:
        found = _NAME.match(text) if _SPECIFIED.fullmatch(text) else None
    return (found[1] or found[found.lastindex or 1]) if found else None


def installed(words: Sequence[Word]) -> Iterator[Subject]:
    """Yield what a command installs, and from where; nothing where it isn't such a command."""
    names = [word.text.rpartition("/")[2] for word in words]
    manager, at = "", 0
    for at, name in enumerate(names):
        manager = _MANAGERS.get(name, manager)
        if manager and name in _INSTALLS:
            break
        if at > 6:
            return
    else:
        return
    at += 1
    while at < len(words):
        word, following = words[at], words[at + 1] if at + 1 < len(words) else None
        at += 1
        option, equals, value = word.text.partition("=")
        if option in _INDEX and equals:
            yield Index(word.start, word.end, value)
        elif word.text in _INDEX and following is not None:
            yield Index(following.start, following.end, following.text)
            at += 1
        elif word.text in _VALUED:
            at += 1
        elif not word.text.startswith("-"):
            found = requirement(word.text, word.start, manager)
            if found is not None:
                yield Requirement(word.start, word.end, found.name, found.text, manager)


def listed(text: str) -> Iterator[Subject]:
    """Yield what a requirements file asks for."""
    start = 0
    for line in text.splitlines(keepends=True):
        at, start = start, start + len(line)
        bare = re.sub(r"(?:^|\s)#.*", "", line.rstrip("\r\n")).rstrip().rstrip("\\")
        option = re.match(r"\s*(-{1,2}[\w-]+)(?:\s*=\s*|\s+|\Z)(.*)", bare)
        if option is None:
            asked = requirement(re.sub(r"\s--hash=.*", "", bare), at)
            if asked is not None:
                yield asked
        elif option[1] in _INDEX:
            yield Index(at + option.start(2), at + option.end(2), option[2])
        elif option[1] in ("-e", "--editable"):
            asked = requirement(option[2], at + option.start(2))
            if asked is not None:
                yield asked


def placed(asked: Requirement, start: int, end: int) -> Requirement:
    """Return a requirement at another place."""
    return replace(asked, start=start, end=end)
