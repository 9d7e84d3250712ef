"""What the surroundings of an expression already say about the accelerator."""

from __future__ import annotations

import libcst as cst

from porter.rule import OWN, Context
from porter_rules.nodes import is_runtime, walk

_QUESTION = "torch.cuda.is_available"


def is_call_of(node: cst.CSTNode, name: str, ctx: Context) -> bool:
    """Whether an expression calls this function of the shim."""
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=called))):
            return called == name and is_runtime(node, ctx)
    return False


def asks_availability(node: cst.CSTNode, ctx: Context) -> bool:
    """Whether an expression is `torch.cuda.is_available()`, or its port."""
    if not isinstance(node, cst.Call):
        return False
    return ctx.qualified(node.func) == _QUESTION or is_call_of(node, "is_available", ctx)


def choices(ctx: Context) -> tuple[str, ...]:
    """Return the vote groups of the expressions around the current node that ask for CUDA.

    Those are ternaries by availability, and `and` with such a question. Their test, and what is
    done where it holds, are members of the group, which is called by its place in the fragment.
    """
    around = [
        node
        for node in ctx.stack
        if isinstance(node, cst.IfExp | cst.BooleanOperation)
        and any(asks_availability(n, ctx) for n in walk(getattr(node, "test", node)))
    ]
    if not around:
        return ()
    places = {id(node): place for place, node in enumerate(walk(ctx.stack[0]))}
    return tuple(f"{OWN}choice:{places[id(node)]}" for node in around)


def is_known_available(ctx: Context) -> bool:
    """Whether the current node is an operand of an `and` that also asks for an accelerator.

    An `if` around it says less: its test may hold the call under `not` or in an `or`.
    """
    for node in reversed(ctx.stack):
        if not isinstance(node, cst.BooleanOperation) or not isinstance(node.operator, cst.And):
            return False
        if asks_availability(node.left, ctx) or asks_availability(node.right, ctx):
            return True
    return False


def only_with_accelerator(
    condition: cst.BaseExpression, ctx: Context, *, negative: bool = False
) -> cst.BaseExpression:
    """Return `accel.is_available() and <condition>`, or the negation of a negative condition.

    The engine carries over the parentheses of the node that is replaced, and adds what is needed.
    """
    available: cst.BaseExpression = ctx.runtime_call("is_available")
    operator: cst.BaseBooleanOp = cst.And()
    if negative:
        available, operator = cst.UnaryOperation(cst.Not(), available), cst.Or()
    return cst.BooleanOperation(available, operator, condition.with_changes(lpar=[], rpar=[]))
