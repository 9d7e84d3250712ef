"""Parts of an expression that is too large to be one fragment.

Real files hold dicts of 89 KB and sums of 400 terms with one site inside. Such an expression is
taken apart, but only where its parts don't speak about each other: a comparison, a ternary or a
call that a rule may have to see as a whole stays one fragment, however large.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from porter.engine import triggers
from porter.engine.naming import last_name
from porter.engine.scope import Scope
from porter.rule import Role

MAX_BYTES = 1_500
MAX_DEPTH = 150
"""libcst's parser takes time quadratic in the nesting."""

HOPELESS_DEPTH = 800
"""A chain this deep takes libcst a second, one of 5,000 a minute."""


def parts(node: ast.expr, role: Role, scope: Scope) -> list[tuple[ast.expr, Role]]:
    """Return the parts of an expression with their roles; empty where it has to stay whole."""
    match node:
        case ast.Call() if not _speaks(node, scope):
            return [(node.func, Role("called")), *_arguments(node, scope)]
        case ast.Dict(keys=keys, values=values):
            return list(_items(keys, values, role))
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
            return [(_unstarred(e), Role("element", outer=role)) for e in elements]
        case ast.BinOp(left=left, right=right) if not _is_text(left) and not _is_text(right):
            return [(left, Role("operand")), (right, Role("operand"))]
        case ast.Starred(value=value):
            return [(value, Role("other"))]
    return []


def _speaks(call: ast.Call, scope: Scope) -> bool:
    """Whether a rule may have an answer for the call itself."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in triggers.ATTRIBUTES:
        return True
    if any(k.arg in triggers.KEYWORDS for k in call.keywords):
        return True
    qualified = scope.qualified(call.func)
    return qualified is not None and triggers.is_traced(qualified)


def _arguments(call: ast.Call, scope: Scope) -> Iterator[tuple[ast.expr, Role]]:
    callee = scope.qualified(call.func) or f"?.{last_name(call.func)}"
    for position, value in enumerate(call.args):
        if isinstance(value, ast.Starred):
            yield value.value, Role("other", callee=callee)
        else:
            yield value, Role("argument", callee=callee, position=position)
    for keyword in call.keywords:
        role = Role("keyword", keyword.arg, callee) if keyword.arg else Role("other", callee=callee)
        yield keyword.value, role


def _items(
    keys: list[ast.expr | None], values: list[ast.expr], role: Role
) -> Iterator[tuple[ast.expr, Role]]:
    for key, value in zip(keys, values, strict=True):
        name = ""
        if key is not None:
            yield key, Role("key", outer=role)
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                name = key.value
        yield value, Role("value", name, outer=role)


def _unstarred(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Starred) else node


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
