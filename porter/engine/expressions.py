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
    while todo:
        node, depth = todo.pop()
        found.depth = max(found.depth, depth)
        match node:
            case ast.Name(id=name):
                _name(node, name, traced, found)
                continue
            case ast.Constant(value=str() as value):
                if triggers.in_string(value):
                    found.triggered = True
                    if annotation:
                        found.names.update(_names_in(value))
                continue
            case ast.Constant():
                continue
            case ast.Attribute(attr=attr):
                if attr in triggers.ATTRIBUTES:
                    found.triggered = True
                    found.chains.append(node)
            case ast.keyword(arg=str() as arg):
                found.triggered |= arg in triggers.KEYWORDS
            case ast.arg(arg=arg):
                found.bound.add(arg)
        todo.extend((child, depth + 1) for child in ast.iter_child_nodes(node))
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
