"""The guards on every file that is written: what may not happen, checked on the new text itself.

That the new text parses says little: of splices broken on purpose, 4 in 10 still parse. The
extent guard asks for more: in the old tree and in the new one each edit is exactly one expression,
at its predicted place, and every node around it has the extent that the changes predict. Only
nodes on the way to a change are compared; everything else was copied.
"""

from __future__ import annotations

import ast
import bisect
import sys
from collections.abc import Iterator, Sequence
from typing import cast

from porter.engine.chunks import Chunk, changed_chunks
from porter.engine.comments import lost_comment
from porter.engine.source import Placed, Source
from porter.engine.splice import Change, Spliced

_FIELDS_HAVE_PLACES = sys.version_info >= (3, 12)


class GuardError(Exception):
    """The new text is not the old one with the changes in it; `code` names the rule, if known."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


def check(
    old: Source, old_tree: ast.Module, spliced: Spliced, places: Sequence[tuple[int, int]]
) -> None:
    """Check the new text against the old tree and the changes.

    Args:
        old: the file as it was.
        old_tree: its tree.
        spliced: the changes and the new text.
        places: the extents of the fragments, ascending: no expression changes elsewhere.

    Raises:
        GuardError: a change is not what it was meant to be.
        SourceError: the new text can't be parsed.
    """
    for change in spliced.changes:
        if change.kind == "expression":
            _check_text(old.data, change, places)
    seen: set[Change] = set()
    for chunk in changed_chunks(old, old_tree, spliced):
        guard = _ExtentGuard(old, chunk, spliced)
        guard.body(chunk.old, chunk.new)
        seen |= guard.seen
    for change in spliced.changes:
        if change not in seen:
            raise GuardError("an edit is not where an expression stands", change.code)


def _check_text(data: bytes, change: Change, places: Sequence[tuple[int, int]]) -> None:
    """Check what can be seen in the texts alone."""
    at = bisect.bisect_right(places, change.start, key=lambda place: place[0])
    if not at or change.end > places[at - 1][1]:
        raise GuardError("an edit lies outside of every site", change.code)
    if not change.start <= change.core[0] <= change.core[1] <= change.end:
        raise GuardError("an edit takes less than an expression", change.code)
    before, after = data[change.start : change.core[0]], data[change.core[1] : change.end]
    if before[:1] not in (b"", b"(") or after[-1:] not in (b"", b")"):
        raise GuardError("an edit takes more than an expression", change.code)
    old = data[change.start : change.end].decode("utf-8", "replace")
    if lost_comment(old, change.text.decode("utf-8")):
        raise GuardError("a comment was lost", change.code)


class _ExtentGuard:
    """Walks the statements of a chunk, old and new, side by side, along the changes."""

    def __init__(self, old: Source, chunk: Chunk, spliced: Spliced) -> None:
        self.old = old
        self.new = chunk.source
        self.new_start = chunk.start
        self.spliced = spliced
        self.expressions = {c.core: c for c in chunk.changes if c.kind == "expression"}
        self.imports = {(c.start, c.end): c for c in chunk.changes if c.kind == "import"}
        self.inserted = {
            spliced.new_start(c) + c.statement_at: c for c in chunk.changes if c.kind == "insertion"
        }
        self.extended = {
            c.follows: spliced.new_start(c) + len(c.text.rstrip())
            for c in self.inserted.values()
            if c.follows >= 0
        }
        self.seen: set[Change] = set()

    def body(self, old: Sequence[ast.stmt], new: Sequence[ast.stmt]) -> None:
        """Compare two lists of statements; the new one may hold inserted imports."""
        at = 0
        for statement in old:
            at = self._skip_inserted(new, at)
            change = self.imports.get(self._old(statement))
            if at >= len(new):
                raise GuardError("a statement is missing")
            if change is not None:
                self._import(change, new, at)
                at += change.statements
            else:
                self.node(statement, new[at])
                at += 1
        at = self._skip_inserted(new, at)
        if at != len(new):
            raise GuardError("there is a statement too many")

    def _skip_inserted(self, new: Sequence[ast.stmt], at: int) -> int:
        while at < len(new):
            change = self.inserted.get(self._new(new[at])[0])
            if change is None or not isinstance(new[at], ast.Import | ast.ImportFrom):
                return at
            self.seen.add(change)
            at += 1
        return at

    def _import(self, change: Change, new: Sequence[ast.stmt], at: int) -> None:
        statements = new[at : at + change.statements]
        start = self.spliced.new_start(change)
        ok = len(statements) == change.statements and all(
            isinstance(s, ast.Import | ast.ImportFrom) for s in statements
        )
        if not ok or (
            self._new(statements[0])[0],
            self._new(statements[-1])[1],
        ) != (start, start + len(change.text)):
            raise GuardError("an import statement is not where it should be", change.code)
        self.seen.add(change)

    def node(self, old: ast.AST, new: ast.AST) -> None:
        """Compare two nodes that should stand for each other."""
        if not hasattr(old, "lineno"):
            self._same_type(old, new)
            self._children(old, new)
            return
        extent = self._old(old)
        change = self.expressions.get(extent) if isinstance(old, ast.expr) else None
        if change is not None and change not in self.seen:
            self._expression(change, new)
            return
        self._same_type(old, new)
        expected = (self.spliced.start(extent[0]), self._end(old, extent[1]))
        if self._new(new) != expected:
            raise GuardError(
                f"{type(old).__name__} at byte {extent[0]} has another extent than predicted",
                self._code_near(extent),
            )
        if isinstance(old, ast.JoinedStr) and not _FIELDS_HAVE_PLACES:
            self._fields(extent)
        elif self.spliced.within(*self._whole(old, extent)) or any(
            extent[0] < end <= extent[1] for end in self.extended
        ):
            self._children(old, new)

    def _end(self, node: ast.AST, end: int) -> int:
        """A block ends where an import that was put in behind its last statement ends."""
        if isinstance(node, ast.Match) or (
            hasattr(node, "body") and isinstance(node, ast.stmt | ast.excepthandler)
        ):
            return self.extended.get(end, self.spliced.end(end))
        return self.spliced.end(end)

    def _whole(self, node: ast.AST, extent: tuple[int, int]) -> tuple[int, int]:
        """A definition's decorators stand before its own extent."""
        decorators = getattr(node, "decorator_list", None)
        if not decorators:
            return extent
        return min(extent[0], self._old(decorators[0])[0]), extent[1]

    def _expression(self, change: Change, new: ast.AST) -> None:
        start = self.spliced.new_start(change)
        expected = (start + change.new_core[0], start + change.new_core[1])
        if not isinstance(new, ast.expr) or self._new(new) != expected:
            raise GuardError("an edit did not stay one expression", change.code)
        self.seen.add(change)

    def _fields(self, extent: tuple[int, int]) -> None:
        """Before Python 3.12 `ast` doesn't know where an f-string's fields are: take the whole."""
        for change in self.spliced.changes:
            if extent[0] < change.start and change.end < extent[1]:
                self._alone(change)
                self.seen.add(change)

    def _alone(self, change: Change) -> None:
        """Check that an edit's text is one expression by itself."""
        try:
            ast.parse(b"(" + change.text + b"\n)", mode="eval")
        except (SyntaxError, ValueError) as error:
            raise GuardError("an edit is no expression", change.code) from error

    def _children(self, old: ast.AST, new: ast.AST) -> None:
        for before, after in self._fields_of(old, new):
            if before and isinstance(before[0], ast.stmt):
                self.body(_statements(before), _statements(after))
                continue
            if len(before) != len(after):
                raise GuardError(f"{type(old).__name__} has another number of parts")
            for one, other in zip(before, after, strict=True):
                self.node(one, other)

    def _fields_of(
        self, old: ast.AST, new: ast.AST
    ) -> Iterator[tuple[list[ast.AST], list[ast.AST]]]:
        for name in old._fields:
            one, other = getattr(old, name, None), getattr(new, name, None)
            if isinstance(one, list):
                yield (
                    [n for n in one if isinstance(n, ast.AST)],
                    [n for n in other or () if isinstance(n, ast.AST)],
                )
            elif isinstance(one, ast.AST):
                yield [one], [other] if isinstance(other, ast.AST) else []

    def _same_type(self, old: ast.AST, new: ast.AST) -> None:
        if type(old) is not type(new):
            raise GuardError(f"{type(old).__name__} became {type(new).__name__}")

    def _code_near(self, extent: tuple[int, int]) -> str:
        return next((c.code for c in self.spliced.changes if c.start >= extent[0]), "")

    def _old(self, node: ast.AST) -> tuple[int, int]:
        return _extent(self.old, node)

    def _new(self, node: ast.AST) -> tuple[int, int]:
        start, end = _extent(self.new, node)
        return self.new_start + start, self.new_start + end


def _extent(source: Source, node: ast.AST) -> tuple[int, int]:
    return source.extent(cast(Placed, node))


def _statements(nodes: list[ast.AST]) -> list[ast.stmt]:
    return [n for n in nodes if isinstance(n, ast.stmt)]
