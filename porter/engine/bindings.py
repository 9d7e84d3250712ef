"""Which names a scope binds, and how: one walk over its statements."""

from __future__ import annotations

import ast
import bisect
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_BIND_NOTHING = frozenset(
    {ast.Expr, ast.Return, ast.Raise, ast.Assert, ast.Delete, ast.Pass, ast.Break, ast.Continue}
)
_HOLD_STATEMENTS: tuple[type[ast.stmt], ...] = (
    *(ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match),
    *((ast.TryStar,) if sys.version_info >= (3, 11) else ()),
)


@dataclass(frozen=True)
class Binding:
    """One place that gives a name a value.

    `kind` is "import", "class", "function", "parameter", "value" or "other"; `qualified` what an
    import binds; `value` the assigned expression; `optional` that the place only serves where an
    import failed (an except handler, `= None`).
    """

    kind: str
    statement: ast.stmt | None
    qualified: str = ""
    value: ast.expr | None = None
    optional: bool = False


@dataclass
class Bindings:
    """The names that one scope binds, and those it declares to belong elsewhere."""

    table: dict[str, list[Binding]] = field(default_factory=dict)
    global_names: set[str] = field(default_factory=set)
    nonlocal_names: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, scope: ast.Module | ast.ClassDef | Function, walruses: Sequence[int]) -> Bindings:
        """Collect the bindings of a scope.

        `walruses` are the lines that may hold assignment expressions, ascending; looking for them
        means to walk every expression of a statement.
        """
        found = cls()
        if isinstance(scope, Function):
            a = scope.args
            for arg in [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]:
                if arg is not None:
                    found._bind(arg.arg, Binding("parameter", None))
        for parameter in getattr(scope, "type_params", ()):
            found._bind(parameter.name, Binding("other", None))
        if not isinstance(scope, ast.Lambda):
            found._statements(scope.body, walruses)
        return found

    def _bind(self, name: str, binding: Binding) -> None:
        self.table.setdefault(name, []).append(binding)

    def _statements(self, body: list[ast.stmt], walruses: Sequence[int]) -> None:
        todo: list[tuple[ast.stmt, bool]] = [(s, False) for s in reversed(body)]
        while todo:
            node, optional = todo.pop()
            if walruses and _touches(node, walruses):
                self._walruses(node)
            if type(node) in _BIND_NOTHING:
                continue
            self._statement(node, optional)
            if not isinstance(node, _HOLD_STATEMENTS):
                continue
            for field_name in ("body", "orelse", "finalbody"):
                todo.extend((s, optional) for s in reversed(getattr(node, field_name, ())))
            for handler in getattr(node, "handlers", ()):
                if handler.name:
                    self._bind(handler.name, Binding("other", node))
                todo.extend((s, True) for s in reversed(handler.body))
            for case in getattr(node, "cases", ()):
                todo.extend((s, optional) for s in reversed(case.body))

    def _statement(self, node: ast.stmt, optional: bool) -> None:
        match node:
            case ast.Import() | ast.ImportFrom():
                for name, qualified in import_bindings(node):
                    self._bind(name, Binding("import", node, qualified, optional=optional))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._bind(node.name, Binding("function", node, optional=optional))
            case ast.ClassDef():
                self._bind(node.name, Binding("class", node, optional=optional))
            case ast.Global():
                self.global_names.update(node.names)
            case ast.Nonlocal():
                self.nonlocal_names.update(node.names)
            case ast.Assign():
                for target in node.targets:
                    self._target(target, node, node.value, optional)
            case ast.AnnAssign() if node.value is not None:
                self._target(node.target, node, node.value, optional)
            case ast.AnnAssign() | ast.AugAssign() | ast.For() | ast.AsyncFor():
                self._target(node.target, node, None, optional)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    if item.optional_vars is not None:
                        self._target(item.optional_vars, node, None, optional)
            case ast.Match():
                for part in (p for case in node.cases for p in ast.walk(case.pattern)):
                    captured = getattr(part, "name", None) or getattr(part, "rest", None)
                    if isinstance(captured, str):
                        self._bind(captured, Binding("other", node))
            case _ if type(node).__name__ == "TypeAlias":  # from Python 3.12 on
                self._target(node.name, node, None, optional)  # type: ignore[attr-defined]

    def _target(
        self, target: ast.expr, statement: ast.stmt, value: ast.expr | None, optional: bool
    ) -> None:
        if isinstance(target, ast.Name):
            if isinstance(value, ast.Constant) and value.value in (None, False):
                optional = True
            kind = "value" if value is not None else "other"
            self._bind(target.id, Binding(kind, statement, value=value, optional=optional))
        elif isinstance(target, ast.Tuple | ast.List):
            for element in target.elts:
                self._target(element, statement, None, optional)
        elif isinstance(target, ast.Starred):
            self._target(target.value, statement, None, optional)

    def _walruses(self, statement: ast.stmt) -> None:
        for child in ast.iter_child_nodes(statement):
            if isinstance(child, ast.expr | ast.withitem):
                for part in _own_expressions(child):
                    if isinstance(part, ast.NamedExpr):
                        binding = Binding("value", statement, value=part.value)
                        self._bind(part.target.id, binding)


def _touches(node: ast.stmt, lines: Sequence[int]) -> bool:
    """Whether a statement stands on one of the lines."""
    at = bisect.bisect_left(lines, node.lineno)
    return at < len(lines) and lines[at] <= (node.end_lineno or node.lineno)


def _own_expressions(root: ast.AST) -> Iterator[ast.AST]:
    """Walk an expression, less the bodies of lambdas, which are scopes of their own."""
    todo = [root]
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, ast.Lambda):
            todo.extend(ast.iter_child_nodes(node))


def import_bindings(statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Yield (name, qualified) for what an import statement binds; a star binds the name "*".

    A name `torch` that comes from a project's own module (`from .compat import torch`) is taken
    for torch: such modules exist to import it safely.
    """
    for alias in statement.names:
        bound = alias.asname or alias.name
        if isinstance(statement, ast.Import):
            top = alias.name.partition(".")[0]
            yield (bound, alias.name) if alias.asname else (top, top)
        elif alias.name == "torch":
            yield bound, "torch"
        else:
            prefix = "." * statement.level + (statement.module or "")
            joint = "" if prefix.endswith(".") else "."
            yield bound, f"{prefix}{joint}{alias.name}"
