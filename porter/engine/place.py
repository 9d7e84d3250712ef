"""Where a fragment or an import stands."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from porter.engine.fragment import Fragment
from porter.engine.scope import Scope


@dataclass(frozen=True)
class Place:
    """What the meaning of a fragment depends on.

    `flags` and `guards` are those of `Context`; `frozen` says why nothing here may be rewritten;
    `path` names the blocks around the place, outermost first: "function", "class", "try",
    "except", "if", "type_checking".
    """

    scope: Scope
    flags: frozenset[str] = frozenset()
    guards: tuple[str, ...] = ()
    frozen: str = ""
    path: tuple[str, ...] = ()


@dataclass(frozen=True)
class Located:
    """A fragment with its place in the file."""

    fragment: Fragment
    place: Place


@dataclass(frozen=True)
class LocatedImport:
    """An import statement on a line with a trigger word."""

    statement: ast.Import | ast.ImportFrom
    place: Place


@dataclass
class Survey:
    """What a file holds: its fragments in order, and its imports that rules may speak about."""

    scope: Scope
    fragments: list[Located]
    imports: list[LocatedImport]

    @property
    def extents(self) -> list[tuple[int, int]]:
        """Where the fragments lie, ascending."""
        return [(f.fragment.start, f.fragment.end) for f in self.fragments]
