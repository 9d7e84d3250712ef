"""What goes between the two halves of the engine: an expression in, edits and sites out."""

from __future__ import annotations

from dataclasses import dataclass

from porter.model import Level
from porter.rule import Role

_ELSEWHERE = Role("other")


@dataclass(frozen=True)
class Fragment:
    """An expression as the locating half hands it over; offsets are into the file's UTF-8 text.

    `frozen` says why nothing in it may be rewritten (an assignment target, a TorchScript body);
    `names_cuda` that a name in it leads to torch.cuda, so that some rule has to speak; `too_deep`
    that libcst would take too long over it; `kept` are the numbers of nodes (see `Site`) that have
    to stay as they are.
    """

    start: int
    end: int
    text: str
    names: tuple[tuple[str, str], ...] = ()
    role: Role = _ELSEWHERE
    instances: tuple[tuple[str, str], ...] = ()
    flags: frozenset[str] = frozenset()
    guards: tuple[str, ...] = ()
    guard: str | None = None
    frozen: str = ""
    names_cuda: bool = False
    too_deep: bool = False
    kept: frozenset[int] = frozenset()

    def offset(self, character: int) -> int:
        """Return where in the file a character of the fragment stands."""
        return self.start + utf8_length(self.text, character)

    @property
    def key(self) -> tuple[object, ...]:
        """What the result depends on: everything but the place."""
        return (
            self.text,
            self.names,
            self.role,
            self.instances,
            self.flags,
            self.guards,
            self.guard,
            self.frozen,
            self.names_cuda,
            self.too_deep,
            self.kept,
        )


def utf8_length(text: str, characters: int) -> int:
    """Return how many bytes the first characters of a text take."""
    return characters if text.isascii() else len(text[:characters].encode("utf-8"))


@dataclass(frozen=True)
class Edit:
    """Replace text[start:end] by `text`; offsets in characters of the fragment.

    `core` is the extent of the old expression without its own parentheses, `new_core` that of the
    new one inside `text`: where the guard expects to find them after parsing.
    """

    code: str
    start: int
    end: int
    text: str
    core: tuple[int, int]
    new_core: tuple[int, int]


@dataclass(frozen=True)
class Site:
    """A finding inside a fragment; offsets in characters of the fragment.

    `start` is what a reader's eye should go to, `first` where the text begins to change. `number`
    tells the node that a rule spoke about from the others of the fragment, in every run over it;
    it is -1 where the site is the whole fragment.
    """

    code: str
    level: Level
    message: str
    start: int
    end: int
    first: int
    replacement: str | None = None
    groups: tuple[str, ...] = ()
    number: int = -1


@dataclass(frozen=True)
class Outcome:
    """What became of a fragment."""

    edits: tuple[Edit, ...]
    sites: tuple[Site, ...]
    uses_runtime: bool = False
