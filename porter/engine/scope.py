"""What a name means where it stands: an own scope table over `ast`, filled only where asked.

Python decides scopes lexically: a name that a function binds anywhere is local to all of it.
So a scope's bindings are collected in one walk over its statements, the first time that a
fragment inside it asks for a name; files have hundreds of scopes and few fragments.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from porter.engine.bindings import Binding, Bindings, Function
from porter.engine.source import Source
from porter.engine.statements import statements
from porter.rule import AMBIGUOUS

_BUILTINS = frozenset(dir(builtins))
_SAME_OBJECT = frozenset({"cuda", "cpu", "to", "eval", "train", "requires_grad_"})


@dataclass(eq=False)
class Scope:
    """A module, class or function: its bindings, and the scope around it.

    `walruses` are the lines of the file with an assignment expression, ascending.
    """

    node: ast.Module | ast.ClassDef | Function
    parent: Scope | None = None
    walruses: Sequence[int] = ()
    module_globals: dict[str, list[Binding]] = field(default_factory=dict)
    _meanings: dict[str, str | None] = field(default_factory=dict)

    @property
    def is_class(self) -> bool:
        """Whether inner scopes can't see the names bound here."""
        return isinstance(self.node, ast.ClassDef)

    @cached_property
    def bound(self) -> Bindings:
        """What is bound in the statements of this scope."""
        return Bindings.of(self.node, self.walruses)

    def inner(self, node: ast.ClassDef | Function) -> Scope:
        """Return the scope of a class or function that stands in this one."""
        return Scope(node, self, self.walruses)

    @cached_property
    def star_imports(self) -> list[ast.ImportFrom]:
        """The star imports of this scope."""
        found = self.bound.table.get("*", ())
        return [b.statement for b in found if isinstance(b.statement, ast.ImportFrom)]

    @property
    def module(self) -> Scope:
        """The outermost scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def find(self, name: str) -> tuple[Scope | None, list[Binding]]:
        """Return the scope that binds a name as seen from here, and all its bindings there.

        None and an empty list where nothing in the file binds it.
        """
        scope: Scope | None = self
        while scope is not None:
            if scope.parent is not None and name in scope.bound.global_names:
                scope = scope.module
                continue
            hidden = name in scope.bound.nonlocal_names or (scope.is_class and scope is not self)
            found = [] if hidden else [*scope.bound.table.get(name, ())]
            if scope.parent is None:
                found += scope.module_globals.get(name, ())
            if found:
                return scope, found
            scope = scope.parent
        return None, []

    def meaning(self, name: str) -> str | None:
        """Return what a name stands for here, in the terms of `Context.names`."""
        if name not in self._meanings:
            self._meanings[name] = self._meaning(name)
        return self._meanings[name]

    def _meaning(self, name: str) -> str | None:
        scope, bindings = self.find(name)
        if not bindings:
            if name == "torch":
                return "torch"  # from a star import, or from wherever the snippet is run
            return f"builtins.{name}" if name in _BUILTINS else None
        imported = {b.qualified for b in bindings if b.kind == "import"}
        others = [b for b in bindings if b.kind != "import" and not b.optional]
        if len(imported) == 1 and not others:
            return imported.pop()
        if imported:
            return AMBIGUOUS
        if scope is not None and scope.parent is None and len(bindings) == 1:
            return f".{name}" if bindings[0].kind in ("class", "function") else None
        return None

    def made_by(self, name: str) -> str | None:
        """Return what was called to make a variable that is bound once, where that is known.

        What `x.cuda()` and its like return was made by what made `x`.
        """
        scope, bindings = self.find(name)
        if scope is None or len(bindings) != 1 or not isinstance(bindings[0].value, ast.Call):
            return None
        func = bindings[0].value.func
        while isinstance(func, ast.Attribute) and func.attr in _SAME_OBJECT:
            if not isinstance(func.value, ast.Call):
                return None
            func = func.value.func
        return scope.qualified(func)

    def qualified(self, node: ast.expr) -> str | None:
        """Return the dotted meaning of a plain attribute chain, or None."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        root = self.meaning(node.id)
        if root is None or root == AMBIGUOUS:
            return None
        return ".".join([root, *reversed(parts)])


def module_scope(tree: ast.Module, source: Source) -> Scope:
    """Return the scope of a whole file.

    Functions that declare a module's name global can rebind it; they are only looked for where
    the text declares so of a name that it imports.
    """
    data = source.data
    walruses = _WALRUS.finditer(data) if b":=" in data else ()
    scope = Scope(tree, walruses=[source.line_of(found.start()) for found in walruses])
    declared = {
        name.strip().decode("utf-8")
        for found in (_GLOBAL.findall(data) if b"global" in data else ())
        for name in found.split(b",")
    }
    if declared:
        imported = {n for n, bs in scope.bound.table.items() if any(b.kind == "import" for b in bs)}
        declared &= imported | {"torch"}
    if not declared:
        return scope
    for node in statements(tree.body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            bound = Bindings.of(node, scope.walruses)
            for name in declared & bound.global_names & bound.table.keys():
                scope.module_globals.setdefault(name, []).extend(bound.table[name])
    return scope


_WALRUS = re.compile(rb":=[ \t\r\n\\(]")
_GLOBAL = re.compile(rb"^[ \t]*global[ \t]+([\w, \t]+)", re.MULTILINE)
