"""One look at an expression in `ast`: does it hold a trigger, and what does it mention?"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from porter.engine import triggers


@dataclass
class Look:
    """What an expression holds.

    `names` are the identifiers that it reads, `bound` those that its comprehensions, lambdas and
    walruses bind, `chains` the attribute chains that end in `cuda` or start at a traced name.
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
    todo: list[tuple[ast.AST, int]] = [(root, 1)]
    while todo:  # the hottest loop of all: no match statement, no generators
        node, depth = todo.pop()
        if depth > found.depth:
            found.depth = depth
        if isinstance(node, ast.Name):
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
                found.chains.append(node)
            todo.append((node.value, depth + 1))
            continue
        if isinstance(node, ast.keyword):
            found.triggered |= node.arg in triggers.KEYWORDS
        elif isinstance(node, ast.arg):
            found.bound.add(node.arg)
        for name in node._fields:
            child = getattr(node, name, None)
            if isinstance(child, ast.AST):
                todo.append((child, depth + 1))
            elif isinstance(child, list):
                todo += [(each, depth + 1) for each in child if isinstance(each, ast.AST)]
    return found


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
