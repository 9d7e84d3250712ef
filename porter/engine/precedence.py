"""Where a rewritten expression needs parentheses to stay one expression in its place."""

from __future__ import annotations

import libcst as cst

from porter.rule import Role

_ATOM = 9
_TERNARY = 1
_SAFE_PARENTS = (
    cst.Arg,
    cst.Element,
    cst.DictElement,
    cst.Index,
    cst.Slice,
    cst.FormattedStringExpression,
    cst.Param,
    cst.NamedExpr,
    cst.GeneratorExp,
    cst.ListComp,
    cst.SetComp,
    cst.DictComp,
)
_UNSAFE_ROLES = frozenset({"compare", "operand", "receiver", "other"})


def _rank(node: cst.CSTNode) -> int:
    """Return how tightly the node binds: the higher, the tighter."""
    match node:
        case cst.NamedExpr() | cst.Yield():
            return 0
        case cst.IfExp() | cst.Lambda():
            return _TERNARY
        case cst.BooleanOperation(operator=cst.Or()):
            return 2
        case cst.BooleanOperation():
            return 3
        case cst.UnaryOperation(operator=cst.Not()):
            return 4
        case cst.Comparison():
            return 5
        case cst.BinaryOperation() | cst.UnaryOperation():
            return 6
        case cst.Await():
            return 7
    return _ATOM


def needs_parentheses(
    original: cst.CSTNode, result: cst.CSTNode, parent: cst.CSTNode | None, role: Role
) -> bool:
    """Whether `result`, put where `original` stood, would be torn apart by what is around it.

    `role` is that of the whole fragment; it decides where there is no parent inside it.
    """
    if getattr(result, "lpar", ()):
        return False
    rank = _rank(result)
    if rank >= _rank(original) or isinstance(parent, _SAFE_PARENTS):
        return False
    if parent is None:
        return role.kind in _UNSAFE_ROLES
    if isinstance(parent, cst.UnaryOperation):
        return rank < _rank(parent)
    if isinstance(parent, cst.BooleanOperation):
        return rank <= _rank(parent)  # `a and (b and c)` is another tree than `a and b and c`
    if isinstance(parent, cst.IfExp | cst.CompIf | cst.CompFor):
        return rank <= _TERNARY
    return True


def parenthesised(node: cst.CSTNode) -> cst.CSTNode:
    """Return the expression in one more pair of parentheses."""
    assert isinstance(node, cst.BaseExpression)
    return node.with_changes(
        lpar=[cst.LeftParen(), *node.lpar], rpar=[*node.rpar, cst.RightParen()]
    )
