"""Small questions about libcst nodes that several rules ask."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import cache

import libcst as cst

from porter.rule import Context


def string_value(node: cst.CSTNode | None) -> str | None:
    """Return the value of a plain string literal, None for anything else (bytes, f-strings)."""
    if not isinstance(node, cst.SimpleString):
        return None
    if not node.prefix and "\\" not in node.value:
        return node.raw_value  # evaluating a literal means to compile it
    value = node.evaluated_value
    return value if isinstance(value, str) else None


def argument(call: cst.Call, name: str | None, position: int | None) -> cst.Arg | None:
    """Return the argument that is passed as the keyword `name` or at the 0-based position.

    A position behind a starred argument is not known.
    """
    for index, arg in enumerate(call.args):
        if arg.star:
            position = None
        if arg.keyword is not None and arg.keyword.value == name:
            return arg
        if arg.keyword is None and not arg.star and index == position:
            return arg
    return None


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield what stands directly in a node, less blanks, parentheses and operators.

    libcst's own `children` rebuilds the node with a visitor, which takes ten times as long.
    """
    for name in _parts(type(node)):
        value = getattr(node, name)
        if isinstance(value, list | tuple):
            yield from value
        elif isinstance(value, cst.CSTNode):
            yield value


_SIGNS = frozenset({"lpar", "rpar", "operator", "comma", "equal", "dot", "asynchronous"})


@cache
def _parts(node_type: type[cst.CSTNode]) -> tuple[str, ...]:
    names = (field.name for field in fields(node_type))
    return tuple(n for n in names if n not in _SIGNS and not n.startswith("whitespace"))


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the node and everything in it that `children` tells of."""
    yield node
    for child in children(node):
        yield from walk(child)


def branches(node: cst.CSTNode | None) -> tuple[cst.BaseExpression, ...]:
    """Return the operands one of which a choice gives: `a if c else b`, `a or b`, `c and a`."""
    match node:
        case cst.IfExp(body=body, orelse=orelse):
            return body, orelse
        case cst.BooleanOperation(left=left, operator=cst.Or(), right=right):
            return left, right
        case cst.BooleanOperation(right=right):
            return (right,)
    return ()


def alternatives(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield what an expression may give: the ends of its choices, itself where it is none."""
    chosen = branches(node)
    if not chosen:
        yield node
    for branch in chosen:
        yield from alternatives(branch)


def is_chain(node: cst.CSTNode) -> bool:
    """Whether the node is a name, or a chain of attributes: to evaluate it twice does no harm."""
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name)


def elements(node: cst.CSTNode | None) -> list[cst.BaseExpression]:
    """Return what a list, tuple or set holds where its elements are written out."""
    if not isinstance(node, cst.List | cst.Tuple | cst.Set):
        return []
    return [e.value for e in node.elements]


def is_runtime(node: cst.CSTNode, ctx: Context) -> bool:
    """Whether the node is already a name of the shim, or a call of one."""
    if isinstance(node, cst.Call):
        if isinstance(node.func, cst.Name) and node.func.value == "str" and len(node.args) == 1:
            return is_runtime(node.args[0].value, ctx)
        return is_runtime(node.func, ctx)
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name) and node.value == ctx.alias


def last_identifier(node: cst.CSTNode) -> str:
    """Return the identifier at the end of a name or attribute chain, or ""."""
    match node:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return name
    return ""
