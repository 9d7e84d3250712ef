"""What became of a site, in the terms in which a team decides on a port."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from porter.model import Finding, Level

BLOCKING = frozenset({"PTR509", "PTR701", "PTR702"})
"""The rules whose sites, where they are left, block the port.

An unguarded import of a package, or of a class, that only CUDA has ends the program before its
first step; an extension or a kernel that is compiled for CUDA has to be written again. Whatever
else is left takes a decision, but no new code.
"""


class State(str, Enum):
    """What became of a site, or has to."""

    PORTED = "ported"
    """porter ports it."""
    PERSON = "person"
    """It takes a decision; the message says which."""
    BLOCKED = "blocked"
    """Nothing runs without new code, or something in a package's place (see `BLOCKING`)."""
    NOTE = "note"
    """Recognised and rightly left: counts neither for the port nor against it."""
    ERROR = "error"
    """The file could not be processed."""

    @classmethod
    def of(cls, finding: Finding) -> State:
        """Return the state of a finding."""
        if finding.level is Level.MANUAL and finding.code in BLOCKING:
            return cls.BLOCKED
        return _STATES[finding.level]


_STATES = {
    Level.REWRITTEN: State.PORTED,
    Level.MANUAL: State.PERSON,
    Level.NOTE: State.NOTE,
    Level.ERROR: State.ERROR,
}


@dataclass
class Counts:
    """How many findings are in each state."""

    ported: int = 0
    person: int = 0
    blocked: int = 0
    note: int = 0
    error: int = 0

    @classmethod
    def of(cls, states: Iterable[State]) -> Counts:
        """Count."""
        counts = cls()
        for state in states:
            setattr(counts, state.value, getattr(counts, state.value) + 1)
        return counts

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, s.value) + getattr(other, s.value) for s in State))

    @property
    def left(self) -> int:
        """The sites that are left to people."""
        return self.person + self.blocked

    @property
    def sites(self) -> int:
        """What is hard-coded for CUDA; notes and errors are not."""
        return self.ported + self.left

    @property
    def share(self) -> float | None:
        """The share of the sites that porter ports; None where there are none."""
        return self.ported / self.sites if self.sites else None
