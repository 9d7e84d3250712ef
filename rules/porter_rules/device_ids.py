"""`device_ids=[rank]` and its kin: which device a process works on, or None on the CPU."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context
from porter_rules.device_strings import device_string, gives_text
from porter_rules.nodes import alternatives, is_runtime


def ported_ids(
    original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context
) -> cst.BaseExpression | None:
    """Return `accel.device_ids(rank)` for `[rank]`, None where the devices are not in sight.

    The branches of a ternary are taken one by one; None and what is ported already stay.
    """
    if is_none(updated) or is_runtime(updated, ctx):
        return updated
    match original, updated:
        case cst.List(elements=[]), _:
            return updated  # torch takes it for None
        case cst.IfExp(), cst.IfExp():
            body = ported_ids(original.body, updated.body, ctx)
            orelse = ported_ids(original.orelse, updated.orelse, ctx)
            if body is None or orelse is None:
                return None
            return updated.with_changes(body=body, orelse=orelse)
        case cst.List(elements=[cst.Element()]), cst.List(elements=[cst.Element(value=rank)]) if (
            not gives_text(rank, ctx)
        ):
            return ctx.runtime_call("device_ids", rank)
    return None


def ported_id(updated: cst.BaseExpression, ctx: Context) -> cst.BaseExpression:
    """Return `accel.device_id(rank)` for a device or its index, which may be None as well."""
    spelled = device_string(updated, ctx)
    if spelled is not None:
        updated = spelled.as_device(ctx)
    if all(is_none(end) or _is_device_id(end, ctx) for end in alternatives(updated)):
        return updated
    return ctx.runtime_call("device_id", updated)


def is_none(node: cst.CSTNode) -> bool:
    """Whether this is the constant None."""
    return isinstance(node, cst.Name) and node.value == "None"


def _is_device_id(node: cst.CSTNode, ctx: Context) -> bool:
    return (
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Attribute)
        and node.func.attr.value == "device_id"
        and is_runtime(node, ctx)
    )
