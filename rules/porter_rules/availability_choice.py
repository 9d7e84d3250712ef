"""`<CUDA device> if torch.cuda.is_available() else <CPU>`: the whole choice in one expression."""

from __future__ import annotations

from dataclasses import dataclass, replace

import libcst as cst

from porter.rule import Context
from porter_rules.device_arguments import Use
from porter_rules.device_constructor import is_constructor, resolved
from porter_rules.device_roles import use_of
from porter_rules.device_strings import device_string, is_ported
from porter_rules.names import is_call
from porter_rules.nodes import is_chain, is_runtime, string_value


@dataclass(frozen=True)
class Choice:
    """What is chosen where CUDA is there, as it was and as other rules left it, and the rest."""

    chosen: cst.BaseExpression
    updated: cst.BaseExpression
    fallback: cst.BaseExpression


def choice(original: cst.IfExp, updated: cst.IfExp, ctx: Context) -> Choice | None:
    """Return the parts of a ternary whose test is `torch.cuda.is_available()` or its negation."""
    if is_call(original.test, "is_available", ctx):
        return Choice(original.body, updated.body, original.orelse)
    match original.test:
        case cst.UnaryOperation(operator=cst.Not(), expression=test) if is_call(
            test, "is_available", ctx
        ):
            return Choice(original.orelse, updated.orelse, original.body)
    return None


def use_of_chosen(found: Choice, whole: cst.IfExp, ctx: Context) -> Use:
    """Return what the chosen branch is for, given the context of the ternary."""
    return use_of(found.chosen, replace(ctx, stack=[*ctx.stack, whole]))


def device_of_choice(found: Choice, use: Use, ctx: Context) -> cst.BaseExpression | None:
    """Return the device that the shim chooses in the same way; None where the form has to stay.

    An index that has to be computed might fail without an accelerator, where nobody asked for it.
    """
    if use is Use.FOREIGN:
        return None
    device = found.updated
    if device_string(found.chosen, ctx) is not None or _is_ported(found.chosen, use, ctx):
        if string_value(found.fallback) != "cpu":
            return None
        spelled = device_string(device, ctx)
        if spelled is not None:
            device = spelled.as_device(ctx) if use is Use.DEVICE else spelled.as_text(ctx)
    elif is_constructor(found.chosen, ctx) and _is_cpu(found.fallback, ctx):
        if isinstance(device, cst.Call) and is_constructor(device, ctx):
            call = resolved(device, ctx)
            device = call if isinstance(call, cst.Call) else device
    else:
        return None
    return device if _holds_without_accelerator(device, ctx) else None


def has_index(device: cst.BaseExpression, ctx: Context) -> bool:
    """Whether a device that was chosen is one call of the shim, `accel.torch_device(index)`."""
    return isinstance(device, cst.Call) and is_runtime(device.func, ctx)


def _is_ported(node: cst.BaseExpression, use: Use, ctx: Context) -> bool:
    """Whether an earlier run, of fewer rules, has ported the string.

    A device where a str would have been kept was an integer before: PTR311 keeps that choice.
    """
    return is_ported(node, ctx) and (use is Use.DEVICE or not has_index(node, ctx))


def _is_cpu(node: cst.BaseExpression, ctx: Context) -> bool:
    return (
        isinstance(node, cst.Call)
        and is_constructor(node, ctx)
        and len(node.args) == 1
        and string_value(node.args[0].value) == "cpu"
    )


def _holds_without_accelerator(node: cst.BaseExpression, ctx: Context) -> bool:
    match node:
        case cst.Call(args=[cst.Arg(value=inner)]) if not is_runtime(node.func, ctx):
            return _holds_without_accelerator(inner, ctx)  # str(...), torch.device(...)
        case cst.Call(args=[cst.Arg(value=index)]):
            plain = is_chain(index) or isinstance(index, cst.Integer)
            # torch.cuda and the shim tell the current device on a CPU as well.
            return plain or is_runtime(index, ctx) or is_call(index, "current_device", ctx)
    return is_runtime(node, ctx)
