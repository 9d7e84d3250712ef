"""One look at an expression in `ast`: does it hold a trigger, and what does it mention?"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from porter.engine import triggers


@dataclass
class Look:
    """What an expression holds.

    `names` are the identifiers that it reads from around it, `bound` those that its comprehensions,
    lambdas and walruses bind, `chains` the attribute chains that end in `cuda` or start at a traced
    name, less those that start at a name which a comprehension or lambda around them binds.
    """

    triggered: bool = False
    depth: int = 0
    names: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    chains: list[ast.Attribute | ast.Name] = field(default_factory=list)


def look(root: ast.expr, traced: frozenset[str], annotation: bool) -> Look:
    """Walk an expression once.

    Args:
        root: the expression.
        traced: identifiers of this file that an import binds to something rules speak about.
        annotation: whether strings in it are annotations, whose names count.
    """
    found = Look()
    todo: list[tuple[ast.AST, int, frozenset[str]]] = [(root, 1, frozenset())]
    while todo:  # the hottest loop of all: no match statement, no generators
        node, depth, own = todo.pop()
        if depth > found.depth:
            found.depth = depth
        if isinstance(node, ast.Name):
            if node.id not in own or isinstance(node.ctx, ast.Store):
                _name(node, node.id, traced, found)
            continue
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and triggers.in_string(node.value):
                found.triggered = True
                if annotation:
                    found.names.update(_names_in(node.value))
            continue
        if isinstance(node, ast.Attribute):
            if node.attr in triggers.ATTRIBUTES:
                found.triggered = True
                if not own or _root(node) not in own:
                    found.chains.append(node)
            todo.append((node.value, depth + 1, own))
            continue
        if isinstance(node, _BINDING):
            todo += [(part, depth + 1, own | names) for part, names in _parts(node)]
            continue
        if isinstance(node, ast.keyword):
            found.triggered |= node.arg in triggers.KEYWORDS
        elif isinstance(node, ast.arg):
            found.bound.add(node.arg)
        for name in node._fields:
            child = getattr(node, name, None)
            if isinstance(child, ast.AST):
                todo.append((child, depth + 1, own))
            elif isinstance(child, list):
                todo += [(each, depth + 1, own) for each in child if isinstance(each, ast.AST)]
    return found


_BINDING = (ast.Lambda, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


def _parts(
    node: ast.Lambda | ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
) -> Iterator[tuple[ast.AST, frozenset[str]]]:
    """Yield what a lambda or comprehension consists of, with the names that it binds there."""
    if isinstance(node, ast.Lambda):
        yield node.args, frozenset()  # defaults belong to what is around it
        yield node.body, frozenset(a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg))
        return
    targets = (n for g in node.generators for n in ast.walk(g.target))
    bound = frozenset(n.id for n in targets if isinstance(n, ast.Name))
    first, *others = node.generators
    yield first.iter, frozenset()  # and so does what is gone through first
    results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    for part in (first.target, *first.ifs, *others, *results):
        yield part, bound


def _root(chain: ast.expr) -> str:
    """Return the name at the start of an attribute chain, or ""."""
    while isinstance(chain, ast.Attribute):
        chain = chain.value
    return chain.id if isinstance(chain, ast.Name) else ""


def _name(node: ast.Name, name: str, traced: frozenset[str], found: Look) -> None:
    if isinstance(node.ctx, ast.Store):
        found.bound.add(name)
        return
    found.names.add(name)
    if name in traced:
        found.triggered = True
        found.chains.append(node)


def _names_in(annotation: str) -> set[str]:
    """Return the identifiers of an annotation that is written as a string."""
    try:
        tree = ast.parse(annotation.strip(), mode="eval")
    except (SyntaxError, ValueError):
        return set()
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
