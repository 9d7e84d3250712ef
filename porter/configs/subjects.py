"""What a file of configuration speaks of, whatever its format: the subjects of the rules."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

_OFF = frozenset({"", "0", "false", "n", "no", "none", "null", "off", "~"})
_WRAPPERS = frozenset({"default", "value", "values", "choices"})
"""Keys under which sweeps and schemas keep the value of the key above."""


@dataclass(frozen=True)
class Subject:
    """A place in a file: `start` and `end` are offsets into its text, in characters."""

    start: int
    end: int


@dataclass(frozen=True)
class Setting(Subject):
    """A value that is given to a key, or to an option of a program.

    Attributes:
        keys: as they are written, the outermost first; positions in lists are left out.
        value: without quotes. "true" for an option that takes none.
        program: what the option belongs to: "docker", "accelerate", "sbatch", ...; "" elsewhere.
    """

    keys: tuple[str, ...]
    value: str
    program: str = ""

    @cached_property
    def key(self) -> str:
        """The key that names the value, in lower case and with underscores."""
        names = [k.lower().replace("-", "_") for k in self.keys]
        while len(names) > 1 and names[-1] in _WRAPPERS:
            names.pop()
        return names[-1] if names else ""

    @property
    def written(self) -> str:
        """The innermost key as it is written, "" where there is none."""
        return self.keys[-1] if self.keys else ""

    @property
    def is_on(self) -> bool:
        """Whether the value switches something on."""
        return self.value.strip().lower() not in _OFF


@dataclass(frozen=True)
class Variable(Subject):
    """An environment variable that is set, or handed on.

    Attributes:
        name: its name.
        value: what it is set to, without quotes; None where it is handed on or unset.
        separator: what has to stand between this assignment and a further one of another variable;
            None where none can be put behind it without looking at what is around.
    """

    name: str
    value: str | None
    separator: str | None = None


@dataclass(frozen=True)
class Tool(Subject):
    """A program that a command names: the last part of its path."""

    name: str


@dataclass(frozen=True)
class Image(Subject):
    """A container image that is built on, or run."""

    name: str


@dataclass(frozen=True)
class Requirement(Subject):
    """A package that is asked for.

    Attributes:
        name: its normalised name, as on PyPI: lower case with hyphens.
        text: all that is said of it: version, extras, where it comes from.
        manager: "pip", "conda" or "apt".
    """

    name: str
    text: str
    manager: str = "pip"


@dataclass(frozen=True)
class Index(Subject):
    """An address where packages are looked for."""

    url: str
