"""The rules by what they are about: the kinds of sites."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add

from porter.catalogue import catalogue
from porter.model import IDLE_PRAGMA, UNREADABLE, UNSPOKEN
from porter.pages.states import Counts

_TITLES = {
    "PTR0": "Files and pragmas",
    "PTR1": "Tensors and modules",
    "PTR2": "torch.cuda",
    "PTR3": "Device strings",
    "PTR4": "Mixed precision, profiling, random state",
    "PTR5": "Distributed training",
    "PTR6": "Environment and backends",
    "PTR7": "Libraries and kernels",
    "PTR8": "Configuration",
}
"""What the codes that begin alike have in common."""

_OWN = {
    UNREADABLE: ("unreadable", "A file that could not be processed."),
    UNSPOKEN: ("unspoken", "A site that no rule had an answer for."),
    IDLE_PRAGMA: ("idle-pragma", "A pragma that keeps nothing, or can't be read."),
}
"""What the engine says by itself: name and summary, as of a rule."""


@dataclass(frozen=True)
class RuleEntry:
    """A rule with findings."""

    code: str
    name: str
    summary: str
    counts: Counts


@dataclass(frozen=True)
class Subject:
    """Rules that are about the same; `prefix` begins the code of each."""

    prefix: str
    title: str
    counts: Counts
    rules: tuple[RuleEntry, ...]


def subjects(by_code: Mapping[str, Counts]) -> tuple[Subject, ...]:
    """Return the subjects of the rules that found something, by their codes."""
    known = {rule.code: (rule.name, rule.summary) for rule in catalogue()} | _OWN
    by_prefix: dict[str, list[RuleEntry]] = {}
    for code in sorted(by_code):
        name, summary = known.get(code, (code, ""))
        entry = RuleEntry(code, name, summary, by_code[code])
        by_prefix.setdefault(code[:4], []).append(entry)
    return tuple(
        Subject(
            prefix,
            _TITLES.get(prefix, prefix),
            reduce(add, (rule.counts for rule in rules)),
            tuple(rules),
        )
        for prefix, rules in by_prefix.items()
    )
