"""A walk over statements alone: ten times shorter than one over all nodes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

_INSIDE = ("finalbody", "orelse", "cases", "handlers", "body")


def statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements and those inside them, each before what it holds, in their order."""
    todo: list[ast.AST] = list(reversed(body))
    while todo:
        node = todo.pop()
        if isinstance(node, ast.stmt):
            yield node
        for name in _INSIDE:
            if inner := getattr(node, name, None):
                todo.extend(reversed(inner))
