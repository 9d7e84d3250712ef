"""Where the shim's import goes: beside torch's own import, wherever that stands.

A file gets the import once, at its top, after docstring, `__future__` and everything that has to
come first; code that imports torch late, or only tries to, keeps doing so, and gets the shim's
import in the same function or block.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from porter.engine.module_head import (
    behind_docstring,
    brings_all,
    fixed_statements,
    import_to_follow,
    is_torch_import,
)
from porter.engine.place import Located
from porter.engine.scope import Scope
from porter.engine.shim_alias import bound_to_shim
from porter.engine.source import Source
from porter.engine.splice import Change
from porter.model import Shim

_LATE_TORCH = re.compile(rb"^[ \t]+(?:import|from)[ \t]+torch\b", re.MULTILINE)


class Inserter:
    """Finds the places for the shim's import in one file."""

    def __init__(self, source: Source, tree: ast.Module, shim: Shim, alias: str) -> None:
        self.source = source
        self.tree = tree
        self.shim = shim
        self.alias = alias
        self._text = shim.statement(alias).encode()
        self._for_top: list[Located] = []
        self._served_at_top: set[ast.AST | None] = set()
        self._changes: dict[tuple[int, int], Change] = {}

    def changes(self, users: Sequence[Located]) -> list[Change]:
        """Return the insertions that make the alias known to all the fragments that use it."""
        for user in sorted(users, key=lambda u: u.fragment.start):
            if not self._knows_shim(user.place.scope):
                self._serve(user)
        if self._for_top:
            self._insert_at_top()
        return list(self._changes.values())

    def _knows_shim(self, scope: Scope) -> bool:
        _, bindings = scope.find(self.alias)
        return any(
            isinstance(b.statement, ast.Import | ast.ImportFrom)
            and self.alias in bound_to_shim(b.statement, self.shim)
            for b in bindings
        )

    def _serve(self, user: Located) -> None:
        """Decide where one fragment's import goes."""
        if self._torch_at_top:
            self._for_top.append(user)  # what is imported there is known everywhere
            return
        scope, statements = self._torch_imports(user)
        owner = scope.node if scope is not None else None
        if owner in self._served_at_top:
            return
        behind = [s for s in statements if not _only_for_types(list(self._parents(s)))]
        early = any(self._end(s) > user.fragment.start for s in behind)
        function = _innermost_function(user.place.scope)
        if early and isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef):
            # An import makes the name local to the whole function, so it has to come first.
            self._served_at_top.add(owner)
            self._insert_before(behind_docstring(owner.body))
        elif behind:
            for statement in behind:
                self._insert_behind(statement)
        elif not statements and function is not None and self._torch_is_late():
            self._insert_before(behind_docstring(function.body))
        else:
            self._for_top.append(user)

    def _torch_imports(self, user: Located) -> tuple[Scope | None, list[ast.stmt]]:
        """Return the scope and the statements that import what the fragment's names come from."""
        roots = [n for n, m in user.fragment.names if m.partition(".")[0] == "torch"]
        for name in [*sorted(roots, key=lambda n: n != "torch"), "torch"]:
            scope, bindings = user.place.scope.find(name)
            statements = [
                b.statement
                for b in bindings
                if b.statement is not None and b.qualified.partition(".")[0] == "torch"
            ]
            if statements:
                return scope, statements
        return None, []

    @cached_property
    def _torch_at_top(self) -> bool:
        return any(is_torch_import(s) for s in self.tree.body)

    def _torch_is_late(self) -> bool:
        """Whether the file, which doesn't import torch at its top level, does so further in."""
        return _LATE_TORCH.search(self.source.data) is not None

    def _parents(self, statement: ast.stmt) -> Iterator[ast.stmt]:
        """Yield the compound statements around a statement, outermost first."""
        body = self.tree.body
        while True:
            inside = next(
                s
                for s in body
                if s.lineno <= statement.lineno <= (s.end_lineno or s.lineno)
                and _holds(s, statement)
            )
            if inside is statement:
                return
            yield inside
            body = list(_inner_statements(inside))

    def _insert_at_top(self) -> None:
        body = self.tree.body
        # A star import may bring torch, so that functions can run before torch's own import.
        at_once = brings_all(body)
        first_use = min(
            (
                u.fragment.start
                for u in self._for_top
                if at_once or _innermost_function(u.place.scope) is None
            ),
            default=len(self.source.data),
        )
        fixed = fixed_statements(body)
        follow = import_to_follow([s for s in body if self._end(s) <= first_use])
        if follow is not None:
            self._insert_behind(follow)
        elif fixed:
            self._insert_behind(body[fixed - 1])
        else:
            self._insert_before(body[0])

    def _insert_behind(self, statement: ast.stmt) -> None:
        """Put the import on the next line, or behind a semicolon where the line is shared."""
        end = self._end(statement)
        line_end = self._line_end(end)
        rest = self.source.data[end:line_end].strip()
        header = any(p.lineno == statement.lineno for p in self._parents(statement))
        if header or self._is_joined(statement) or (rest and not rest.startswith(b"#")):
            self._add(
                Change(end, end, b"; " + self._text, "insertion", statement_at=2, follows=end)
            )
            return
        line_start = self.source.line_starts[statement.lineno - 1]
        indent = self._indent(line_start)
        line = self.source.data[line_start:line_end]
        if line.endswith((b"\n", b"\r")):
            new, at = indent + self._text + self._ending(line), len(indent)
        else:  # the file's last line, without a newline; it stays without one
            ending = self.source.newline.encode()
            new, at = ending + indent + self._text, len(ending) + len(indent)
        self._add(Change(line_end, line_end, new, "insertion", statement_at=at, follows=end))

    def _insert_before(self, statement: ast.stmt) -> None:
        """Put the import on the line before, or before a semicolon where the line is shared."""
        decorators = getattr(statement, "decorator_list", None)
        line_start = self.source.line_starts[self.source.first_line(statement) - 1]
        start = self.source.offset(statement.lineno, statement.col_offset)
        indent = self._indent(line_start)
        is_block = hasattr(statement, "body") or isinstance(statement, ast.Match)
        joined = self._is_joined(statement) and not is_block
        if joined or (not decorators and line_start + len(indent) != start):
            # `def f(): return x.cuda()`, `\` and a line break before the statement
            self._add(Change(start, start, self._text + b"; ", "insertion"))
            return
        ending = self._ending(self.source.data[line_start : self._line_end(line_start)])
        new = indent + self._text + ending
        self._add(Change(line_start, line_start, new, "insertion", statement_at=len(indent)))

    def _is_joined(self, statement: ast.stmt) -> bool:
        """Whether a backslash joins the line to the one above, which says how it is indented."""
        start = self.source.line_starts[statement.lineno - 1]
        return self.source.data[max(0, start - 3) : start].rstrip(b"\r\n").endswith(b"\\")

    def _add(self, change: Change) -> None:
        self._changes[change.start, change.end] = change

    def _end(self, statement: ast.stmt) -> int:
        return self.source.offset(statement.end_lineno or 1, statement.end_col_offset or 0)

    def _line_end(self, offset: int) -> int:
        """Return the offset behind the line end of the line on which the offset lies."""
        starts = self.source.line_starts
        line = self.source.line_of(offset)
        return starts[line] if line < len(starts) else len(self.source.data)

    def _indent(self, line_start: int) -> bytes:
        line = self.source.data[line_start : self._line_end(line_start)]
        return line[: len(line) - len(line.lstrip(b" \t\f"))]

    def _ending(self, line: bytes) -> bytes:
        for ending in (b"\r\n", b"\n", b"\r"):
            if line.endswith(ending):
                return ending
        return self.source.newline.encode()


def _holds(outer: ast.stmt, inner: ast.stmt) -> bool:
    return outer is inner or any(_holds(s, inner) for s in _inner_statements(outer))


def _inner_statements(statement: ast.stmt) -> Iterator[ast.stmt]:
    """Yield the statements directly inside a compound statement."""
    for field in ("body", "orelse", "finalbody"):
        yield from getattr(statement, field, ())
    for field in ("handlers", "cases"):
        for block in getattr(statement, field, ()):
            yield from block.body


def _only_for_types(parents: Sequence[ast.stmt]) -> bool:
    """Whether one of the statements is an `if TYPE_CHECKING`."""
    return any(isinstance(p, ast.If) and "TYPE_CHECKING" in ast.dump(p.test) for p in parents)


def _innermost_function(scope: Scope) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Return the function whose call runs the code of this scope, None at import time."""
    step: Scope | None = scope
    while step is not None:
        if isinstance(step.node, ast.FunctionDef | ast.AsyncFunctionDef):
            return step.node
        step = step.parent
    return None
