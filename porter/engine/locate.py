"""The locating half of the engine: walk the statements, hand over the fragments.

Only statements on whose lines a trigger word stands are entered at all. Which names mean what is
asked of the scope table (scope.py); what a fragment is stands in fragment.py.
"""

from __future__ import annotations

import ast
import bisect
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from porter.engine import triggers
from porter.engine.bindings import import_bindings
from porter.engine.facts import FileFacts, is_scripted, module_counts
from porter.engine.fragments import Fragments
from porter.engine.held_indices import holds_index, index_uses
from porter.engine.mentions import mentions
from porter.engine.naming import last_name
from porter.engine.place import LocatedImport, Place, Survey
from porter.engine.scope import Scope, module_scope
from porter.engine.source import Source
from porter.engine.surroundings import (
    class_flags,
    ends_without_cuda,
    function_flags,
    guard_group,
    if_flags,
)
from porter.rule import Role

SCRIPTED = (
    "inside code that TorchScript compiles, which can't call the shim: "
    "pass the device in as an argument, or take the function out of torch.jit.script"
)
TARGET = "an assignment to a name of torch.cuda replaces it for every user: port this by hand"
PATTERN = "a match pattern can't hold a call: turn this case into an if"


def locate(source: Source, tree: ast.Module) -> Survey:
    """Find every fragment and import of a file that a rule may have an answer for."""
    scope = module_scope(tree, source)
    facts = FileFacts(tree, source.data, scope)
    lines = {source.line_of(at) for at in _triggers(source.data)}
    finder = _Finder(source, facts)
    finder.walk(tree, scope, lines)
    traced = frozenset(
        name
        for found in finder.imports
        for name, qualified in import_bindings(found.statement)
        if triggers.is_traced(qualified)
    )
    more = _lines_naming(source, traced) - lines
    if more:  # what those imports bind is a trigger wherever it stands
        finder.walk(tree, scope, more)
    fragments = Fragments(source, traced, facts)
    for candidate in finder.candidates.values():
        fragments.take(*candidate)
    found = sorted(fragments.found, key=lambda f: f.fragment.start)
    return Survey(scope, found, finder.imports)


def _triggers(data: bytes) -> Iterator[int]:
    """Yield where the text holds a word that can be of a site."""
    yield from mentions(data)
    yield from triggers.package_imports(data)
    words, patterns = _words()
    for word in words:
        at = data.find(word)
        while at >= 0:
            yield at
            at = data.find(word, at + 1)
    for pattern in patterns:
        for match in pattern.finditer(data):
            yield match.start()


@cache
def _words() -> tuple[list[bytes], list[re.Pattern[bytes]]]:
    """Return the words of a line: some as they are, those that share a stem as an expression.

    One search for each is several times faster than one expression for all. Each expression
    begins with plain text, for which `re` has a quick search.
    """
    alone = []
    shared: dict[bytes, list[bytes]] = {stem: [] for stem in triggers.STEMS}
    words = set(triggers.LINE_WORDS)
    for word in sorted(words):
        if any(other in word for other in words - {word}):
            continue
        stem = next((stem for stem in triggers.STEMS if stem in word), None)
        if stem is None:
            alone.append(word)
        else:
            before, _, after = word.partition(stem)
            behind = b"(?<=%s)" % re.escape(before + stem) if before else b""
            shared[stem].append(behind + re.escape(after))
    together = [re.escape(stem) + b"(?:%s)" % b"|".join(ends) for stem, ends in shared.items()]
    return alone, [re.compile(pattern) for pattern in together]


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield what gets a name of its own, with that name: `a, b = x, y` is two assignments."""
    match target, value:
        case ast.Tuple(elts=names), ast.Tuple(elts=parts) if len(names) == len(parts):
            if not any(isinstance(e, ast.Starred) for e in (*names, *parts)):
                for name, part in zip(names, parts, strict=True):
                    yield from _assigned(name, part)
                return
    yield target, value


def _lines_naming(source: Source, names: frozenset[str]) -> set[int]:
    """Return the lines that hold one of the names."""
    lines: set[int] = set()
    for name in sorted(names):
        word = name.encode()
        whole = re.compile(rb"\b%s\b" % re.escape(word))
        at = source.data.find(word)
        while at >= 0:
            if whole.match(source.data, at):
                lines.add(source.line_of(at))
            at = source.data.find(word, at + 1)
    return lines


class _Finder:
    """Walks the statements of a file, for its imports and for candidates of fragments.

    Which candidates are fragments is known when all imports are.
    """

    def __init__(self, source: Source, facts: FileFacts) -> None:
        self.source = source
        self.facts = facts
        self.lines: list[int] = []
        self.candidates: dict[ast.expr, tuple[ast.expr, Place, Role, str | None]] = {}
        self._imports: dict[ast.stmt, LocatedImport] = {}
        self._scopes: dict[ast.AST, Scope] = {}
        self._ladders: dict[ast.stmt, bool] = {}

    def walk(self, tree: ast.Module, scope: Scope, lines: set[int]) -> None:
        """Enter every statement that touches one of the lines."""
        self.lines = sorted(lines)
        place = Place(scope, module_counts(tree, self.source))
        todo = [(statement, place) for statement in tree.body]
        while todo:
            statement, place = todo.pop()
            if self._has_hit(statement):
                todo.extend(self._statement(statement, place))

    @property
    def imports(self) -> list[LocatedImport]:
        """The import statements that the walks met."""
        return list(self._imports.values())

    def _has_hit(self, node: ast.stmt | ast.expr) -> bool:
        first = node.lineno
        decorators = getattr(node, "decorator_list", None)
        if decorators:
            first = min(first, decorators[0].lineno)
        at = bisect.bisect_left(self.lines, first)
        return at < len(self.lines) and self.lines[at] <= (node.end_lineno or first)

    def _statement(self, node: ast.stmt, place: Place) -> Iterator[tuple[ast.stmt, Place]]:
        """Take a statement's own expressions, and yield the statements inside it."""
        match node:
            case ast.Import() | ast.ImportFrom():
                self._imports[node] = LocatedImport(node, place)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from self._function(node, place)
            case ast.ClassDef():
                yield from self._class(node, place)
            case ast.If():
                yield from self._if(node, place)
            case ast.Try() | ast.With() | ast.AsyncWith() | ast.For() | ast.AsyncFor():
                yield from self._block(node, place)
            case ast.While() | ast.Match():
                yield from self._block(node, place)
            case _ if type(node).__name__ == "TryStar":
                yield from self._block(node, place)
            case _:
                self._simple(node, place)

    def _simple(self, node: ast.stmt, place: Place) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                for to, part in _assigned(targets[0], value):
                    self._assign(to, part, place)
                for target in targets:
                    self._target(target, place)
            case ast.AugAssign(target=target, value=value):
                self._take(value, place, Role("assign", last_name(target)))
                self._target(target, place)
            case ast.AnnAssign(target=target, annotation=annotation, value=value):
                self._take(annotation, place, Role("annotation"))
                if value is not None:
                    self._assign(target, value, place)
                self._target(target, place)
            case ast.Return(value=ast.expr() as value):
                name = getattr(place.scope.node, "name", "")
                self._take(value, place, Role("return", name))
            case ast.Expr(value=value):
                self._take(value, place, Role("statement"))
            case ast.Assert(test=test, msg=message):
                self._take(test, place, Role("test", name="assert"))
                if message is not None:
                    self._take(message, place, Role("raise"))
            case ast.Raise(exc=exc, cause=cause):
                for value in filter(None, (exc, cause)):
                    self._take(value, place, Role("raise"))
            case ast.Delete(targets=targets):
                for target in targets:
                    self._target(target, place)
            case _ if type(node).__name__ == "TypeAlias":
                self._take(node.value, place, Role("annotation"))  # type: ignore[attr-defined]

    def _block(self, node: ast.stmt, place: Place) -> Iterator[tuple[ast.stmt, Place]]:
        inside = place
        match node:
            case ast.For() | ast.AsyncFor():
                self._take(node.iter, place, Role("iterate", last_name(node.target)))
                self._target(node.target, place)
            case ast.While(test=test):
                self._take(test, place, Role("test"))
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    self._take(item.context_expr, place, Role("with"))
                    if item.optional_vars is not None:
                        self._target(item.optional_vars, place)
            case ast.Match():
                yield from self._match(node, place)
            case _:
                inside = replace(place, path=(*place.path, "try"))
                for handler in getattr(node, "handlers", ()):
                    if handler.type is not None:
                        self._take(handler.type, place, Role("except"))
                    for statement in handler.body:
                        yield statement, replace(place, path=(*place.path, "except"))
        for name in ("body", "orelse", "finalbody"):
            for statement in getattr(node, name, ()):
                yield statement, inside

    def _match(self, node: ast.Match, place: Place) -> Iterator[tuple[ast.stmt, Place]]:
        self._take(node.subject, place, Role("other"))
        for case in node.cases:
            for part in ast.walk(case.pattern):
                if isinstance(part, ast.MatchValue):
                    self._take(part.value, replace(place, frozen=PATTERN), Role("pattern"))
            if case.guard is not None:
                self._take(case.guard, place, Role("test"))
            for statement in case.body:
                yield statement, place

    def _if(self, node: ast.If, place: Place) -> Iterator[tuple[ast.stmt, Place]]:
        negated, flags = if_flags(node, self.source, self.facts, self._ladders)
        kind = "type_checking" if last_name(node.test) == "TYPE_CHECKING" else "if"
        inside = replace(place, flags=place.flags | flags, path=(*place.path, kind))
        guard = None
        if "guard" in flags:
            guard = guard_group(node, self.source)
        self._take(node.test, replace(place, flags=place.flags | flags), Role("test"), guard)
        guarded = inside
        if guard is not None:
            guarded = replace(inside, guards=(*inside.guards, guard))
        for statement in node.body:
            yield statement, inside if negated else guarded
        for statement in node.orelse:
            yield statement, guarded if negated else inside

    def _function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, place: Place
    ) -> Iterator[tuple[ast.stmt, Place]]:
        for decorator in node.decorator_list:
            self._take(decorator, place, Role("decorator"))
        frozen = place.frozen
        if is_scripted(node, place.scope, self.facts):
            frozen = SCRIPTED
        head = replace(place, frozen=frozen)
        a = node.args
        positional = [*a.posonlyargs, *a.args]
        defaults = list(zip(reversed(positional), reversed(a.defaults), strict=False))
        defaults += [(p, d) for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d]
        for parameter, default in defaults:
            self._take(default, head, Role("default", parameter.arg))
        for declared in [*positional, *a.kwonlyargs, a.vararg, a.kwarg]:
            if declared is not None and declared.annotation is not None:
                self._take(declared.annotation, head, Role("annotation"))
        if node.returns is not None:
            self._take(node.returns, head, Role("annotation"))
        inside = Place(
            self._scope(place.scope, node),
            function_flags(node, place, self.source, self.facts),
            place.guards,
            frozen,
            (*place.path, "function"),
        )
        for at, statement in enumerate(node.body, 1):
            yield statement, inside
            if ends_without_cuda(statement, node.body[at:], self.source):
                group = guard_group(statement, self.source)
                flags = inside.flags | {f"moves_nothing:{group}"}
                inside = replace(inside, flags=flags, guards=(*inside.guards, group))

    def _class(self, node: ast.ClassDef, place: Place) -> Iterator[tuple[ast.stmt, Place]]:
        for decorator in node.decorator_list:
            self._take(decorator, place, Role("decorator"))
        for base in node.bases:
            value = base.value if isinstance(base, ast.Starred) else base
            self._take(value, place, Role("base"))
        for keyword in node.keywords:
            self._take(keyword.value, place, Role("keyword", keyword.arg or ""))
        flags = place.flags | class_flags(node, place.scope)
        inside = replace(
            place, scope=self._scope(place.scope, node), flags=flags, path=(*place.path, "class")
        )
        for statement in node.body:
            yield statement, inside

    def _scope(
        self, outer: Scope, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    ) -> Scope:
        if node not in self._scopes:
            self._scopes[node] = outer.inner(node)
        return self._scopes[node]

    def _assign(self, target: ast.expr, value: ast.expr, place: Place) -> None:
        """Take a value; of what may hold a device's index it matters how that is used."""
        if not self._has_hit(value):
            return
        if isinstance(target, ast.Name | ast.Attribute) and holds_index(value):
            uses = index_uses(target, place.scope.node, self.facts.tree)
            place = replace(place, flags=place.flags.union(uses))
        self._take(value, place, Role("assign", last_name(target)))

    def _target(self, node: ast.expr, place: Place) -> None:
        """Take what is read in an assignment's target, and torch.cuda names that are assigned."""
        if isinstance(node, ast.Name) or not self._has_hit(node):
            return
        match node:
            case ast.Attribute(value=value):
                qualified = place.scope.qualified(node)
                if qualified is not None and triggers.is_cuda(qualified):
                    self._take(node, replace(place, frozen=TARGET), Role("target"))
                elif qualified is not None and triggers.is_traced(qualified):
                    self._take(node, place, Role("target"))
                else:
                    self._take(value, place, Role("receiver"))
            case ast.Subscript(value=value, slice=index):
                self._take(value, place, Role("receiver"))
                bounds = [index]
                if isinstance(index, ast.Slice):
                    bounds = [b for b in (index.lower, index.upper, index.step) if b]
                for bound in bounds:
                    self._take(bound, place, Role("index"))
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                for element in elements:
                    self._target(element, place)
            case ast.Starred(value=value):
                self._target(value, place)

    def _take(self, node: ast.expr, place: Place, role: Role, guard: str | None = None) -> None:
        """Keep an expression that stands on a line with a trigger word."""
        if self._has_hit(node):
            self.candidates[node] = (node, place, role, guard)
