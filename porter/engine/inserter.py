"""Where the shim's import goes: beside torch's own import, wherever that stands.

A file gets the import once, at its top, after docstring, `__future__` and everything that has to
come first; code that imports torch late, or only tries to, keeps doing so, and gets the shim's
import in the same function or block.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from porter.engine.place import Located, Survey
from porter.engine.scope import Scope
from porter.engine.source import Source
from porter.engine.splice import Change
from porter.model import Shim

_HEADER = re.compile(rb"(?:[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*")


def choose_alias(source: Source, tree: ast.Module, shim: Shim) -> str:
    """Return the name by which this file calls the shim: the one it has, or a free one."""
    if shim.module.encode() in source.data:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                for name in _bound_to_shim(node, shim):
                    return name
    taken = set()
    if re.search(rb"\b(?:porter_)?%s" % re.escape(shim.alias.encode()), source.data):
        taken = {
            name
            for node in ast.walk(tree)
            for field in ("id", "arg", "name", "asname", "rest")
            if isinstance(name := getattr(node, field, None), str)
        }
    candidates = [shim.alias, f"porter_{shim.alias}"]
    candidates += [f"porter_{shim.alias}_{n}" for n in range(2, 99)]
    return next(c for c in candidates if c not in taken)


def _bound_to_shim(node: ast.Import | ast.ImportFrom, shim: Shim) -> list[str]:
    if isinstance(node, ast.Import):
        return [
            a.asname or a.name
            for a in node.names
            if a.name == shim.qualified and (a.asname or "." not in a.name)
        ]
    if node.level or node.module != shim.package:
        return []
    return [a.asname or a.name for a in node.names if a.name == shim.module]


class Inserter:
    """Finds the places for the shim's import in one file."""

    def __init__(
        self, source: Source, tree: ast.Module, survey: Survey, shim: Shim, alias: str
    ) -> None:
        self.source = source
        self.tree = tree
        self.survey = survey
        self.shim = shim
        self.alias = alias
        self._top: list[Located] = []
        self._changes: dict[tuple[int, bool], Change] = {}

    def changes(self, users: Sequence[Located]) -> list[Change]:
        """Return the insertions that make the alias known to all the fragments that use it."""
        for user in users:
            if not self._has_shim(user.place.scope):
                self._serve(user)
        if self._top:
            self._insert_at_top()
        return list(self._changes.values())

    def _has_shim(self, scope: Scope) -> bool:
        _, bindings = scope.find(self.alias)
        return any(
            isinstance(b.statement, ast.Import | ast.ImportFrom)
            and self.alias in _bound_to_shim(b.statement, self.shim)
            for b in bindings
        )

    def _serve(self, user: Located) -> None:
        """Decide where one fragment's import goes."""
        scope, statements = self._torch_imports(user)
        if scope is not None and scope.parent is not None:
            for statement in statements:
                self._insert_behind(statement)
            return
        paths = [(s, self._parents(s)) for s in statements]
        if any(not parents for _, parents in paths):
            self._top.append(user)
            return
        real = [s for s, parents in paths if not _only_for_types(parents)]
        if real:
            for statement in real:
                self._insert_behind(statement)
        elif self._torch_is_late() and not isinstance(self._function(user.place.scope), ast.Module):
            self._insert_into_function(user)
        else:
            self._top.append(user)

    def _torch_imports(self, user: Located) -> tuple[Scope | None, list[ast.stmt]]:
        """Return the scope and the statements that import what the fragment's names come from."""
        roots = [n for n, m in user.fragment.names if m == "torch" or m.startswith("torch.")]
        for name in [*sorted(roots, key=lambda n: n != "torch"), "torch"]:
            scope, bindings = user.place.scope.find(name)
            statements = [
                b.statement
                for b in bindings
                if isinstance(b.statement, ast.Import | ast.ImportFrom)
                and b.qualified.partition(".")[0] == "torch"
            ]
            if statements:
                return scope, [s for s in statements if s is not None]
        return None, []

    def _torch_is_late(self) -> bool:
        """Whether the file imports torch, but nowhere at its top level."""
        return bool(re.search(rb"^[ \t]+(?:import|from)[ \t]+torch\b", self.source.data, re.M)) and not any(
            _is_torch(s) for s in self.tree.body
        )

    @staticmethod
    def _function(scope: Scope) -> ast.AST:
        while isinstance(scope.node, ast.ClassDef) and scope.parent is not None:
            scope = scope.parent
        return scope.node

    def _parents(self, statement: ast.stmt) -> list[ast.AST]:
        """Return the compound statements around a statement, outermost first."""
        parents: list[ast.AST] = []
        body: Iterable[ast.AST] = self.tree.body
        while True:
            inside = next((s for s in body if _contains(s, statement)), None)
            if inside is None or inside is statement:
                return parents
            parents.append(inside)
            body = list(ast.iter_child_nodes(inside))

    def _insert_behind(self, statement: ast.stmt) -> None:
        end = self.source.offset(statement.end_lineno or 1, statement.end_col_offset or 0)
        start = self.source.offset(statement.lineno, statement.col_offset)
        line_end = self._line_end(end)
        rest = self.source.data[end:line_end].strip()
        header = any(
            getattr(p, "lineno", 0) == statement.lineno for p in self._parents(statement)
        )
        text = self.shim.statement(self.alias)
        if header or (rest and not rest.startswith(b"#")):
            change = Change(end, end, f"; {text}".encode(), "insertion", statement_at=2)
        else:
            first = self.source.line_starts[statement.lineno - 1]
            indent = self._indent(first)
            del start
            change = self._new_line(line_end, indent, text)
        self._changes[(change.start, False)] = change

    def _insert_into_function(self, user: Located) -> None:
        """Put the import at the top of the innermost function."""
        function = self._function(user.place.scope)
        assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        self._insert_before(_behind_docstring(function.body))

    def _insert_before(self, statement: ast.stmt) -> None:
        decorators = getattr(statement, "decorator_list", None)
        lineno = decorators[0].lineno if decorators else statement.lineno
        line_start = self.source.line_starts[lineno - 1]
        start = self.source.offset(statement.lineno, statement.col_offset)
        indent = self._indent(line_start)
        text = self.shim.statement(self.alias)
        if not decorators and line_start + len(indent) != start:  # `def f(): return x.cuda()`
            change = Change(start, start, f"{text}; ".encode(), "insertion")
        else:
            ending = self._ending(line_start, self._line_end(start))
            new = indent + text.encode() + ending
            change = Change(line_start, line_start, new, "insertion", statement_at=len(indent))
        self._changes[(change.start, True)] = change

    def _insert_at_top(self) -> None:
        body = self.tree.body
        behind = self._last_of_imports(body)
        first_use = min(
            (u.fragment.start for u in self._top if not _is_deferred(u.place.scope)),
            default=len(self.source.data),
        )
        if behind is not None:
            end = self.source.offset(behind.end_lineno or 1, behind.end_col_offset or 0)
            if end <= first_use:
                self._insert_behind(behind)
                return
        start = _start_of_code(body)
        if start:
            self._insert_behind(body[start - 1])
        else:
            self._insert_before(body[0])

    def _last_of_imports(self, body: list[ast.stmt]) -> ast.stmt | None:
        """Return the top-level statement behind which the shim's import belongs."""
        first_torch = next((i for i, s in enumerate(body) if _is_torch(s)), None)
        if first_torch is not None:
            last = first_torch
            while last + 1 < len(body) and _is_torch(body[last + 1]):
                last += 1
            stars = [i for i, s in enumerate(body) if _is_star(s) and i > last]
            leading = _leading(body)
            return body[max([last, *(i for i in stars if i < leading)])]
        leading = _leading(body)
        imports = [s for s in body[:leading] if isinstance(s, ast.Import | ast.ImportFrom)]
        return imports[-1] if imports else None

    def _line_end(self, offset: int) -> int:
        """Return the offset behind the line end of the line on which the offset lies."""
        line = self.source.line_of(offset)
        starts = self.source.line_starts
        if offset == len(self.source.data) and offset:
            return offset
        return starts[line] if line < len(starts) else len(self.source.data)

    def _indent(self, line_start: int) -> bytes:
        line = self.source.data[line_start : self._line_end(line_start)]
        return line[: len(line) - len(line.lstrip(b" \t\f"))].replace(b"\f", b"")

    def _ending(self, line_start: int, line_end: int) -> bytes:
        line = self.source.data[line_start:line_end]
        for ending in (b"\r\n", b"\n", b"\r"):
            if line.endswith(ending):
                return ending
        return self.source.newline.encode()

    def _new_line(self, at: int, indent: bytes, text: str) -> Change:
        """Make a line of its own behind the line that ends at `at`."""
        line_start = self.source.line_starts[self.source.line_of(max(at - 1, 0)) - 1]
        ending = self._ending(line_start, at)
        line = indent + text.encode()
        if at == len(self.source.data) and not self.source.data[line_start:at].endswith((b"\n", b"\r")):
            new = ending + line
            return Change(at, at, new, "insertion", statement_at=len(ending) + len(indent))
        return Change(at, at, line + ending, "insertion", statement_at=len(indent))


def _contains(outer: ast.AST, inner: ast.stmt) -> bool:
    if outer is inner:
        return True
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(outer, field, ()) if not isinstance(outer, ast.expr) else ():
            first = getattr(child, "lineno", None) or child.pattern.lineno
            if child is inner or (
                first <= inner.lineno
                and _contains(child, inner)
            ):
                return True
    return False


def _only_for_types(parents: Sequence[ast.AST]) -> bool:
    return any(isinstance(p, ast.If) and "TYPE_CHECKING" in ast.dump(p.test) for p in parents)


def _is_deferred(scope: Scope) -> bool:
    """Whether code in this scope runs after the module has been imported."""
    step: Scope | None = scope
    while step is not None:
        if not isinstance(step.node, ast.Module | ast.ClassDef):
            return True
        step = step.parent
    return False


def _is_torch(statement: ast.stmt) -> bool:
    match statement:
        case ast.Import(names=names):
            return any(a.name.partition(".")[0] == "torch" for a in names)
        case ast.ImportFrom(module=str() as module, level=0, names=names):
            return module.partition(".")[0] == "torch"
        case ast.ImportFrom(names=names):
            return any(a.name == "torch" for a in names)
    return False


def _is_star(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*"


def _behind_docstring(body: list[ast.stmt]) -> ast.stmt:
    return body[1] if len(body) > 1 and _is_docstring(body[0]) else body[0]


def _is_docstring(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _start_of_code(body: list[ast.stmt]) -> int:
    """Return the number of statements that have to stay first: docstring and `__future__`."""
    at = 1 if body and _is_docstring(body[0]) else 0
    while at < len(body):
        statement = body[at]
        if not (isinstance(statement, ast.ImportFrom) and statement.module == "__future__"):
            break
        at += 1
    return at


def _leading(body: list[ast.stmt]) -> int:
    """Return the number of statements of the file's head: imports, and what stands among them."""
    last = _start_of_code(body)
    for at, statement in enumerate(body):
        match statement:
            case ast.Import() | ast.ImportFrom():
                last = at + 1
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                break
            case ast.For() | ast.AsyncFor() | ast.While():
                break
    return last
