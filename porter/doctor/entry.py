"""What an examination yields: sections of entries, each with its state and its mend."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any


class State(enum.Enum):
    """How it stands with something; only a PROBLEM makes `porter doctor` end with 1."""

    OK = "ok"
    ABSENT = "absent"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True)
class Entry:
    """One thing that was looked at.

    `text` says what was found in one sentence or less, `mend` what to do where that is wanted.
    """

    name: str
    state: State
    text: str
    mend: str = ""


@dataclass
class Section:
    """Entries about one subject; `facts` holds for programs what the entries say to people."""

    title: str
    entries: list[Entry] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    def ok(self, name: str, text: str) -> None:
        """Add something that is as it should be."""
        self.entries.append(Entry(name, State.OK, text))

    def absent(self, name: str, text: str) -> None:
        """Add something that isn't there and need not be."""
        self.entries.append(Entry(name, State.ABSENT, text))

    def note(self, name: str, text: str, mend: str = "") -> None:
        """Add something that is worth a look and may be meant."""
        self.entries.append(Entry(name, State.NOTE, text, mend))

    def problem(self, name: str, text: str, mend: str) -> None:
        """Add something that is wrong, with what to do."""
        self.entries.append(Entry(name, State.PROBLEM, text, mend))
