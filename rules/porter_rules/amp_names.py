"""The names of automatic mixed precision, and the edits that their rules share.

torch has each of them twice: in torch.cuda.amp for CUDA alone, and since 1.10 (autocast), 2.3
(GradScaler) and 2.4 (custom_fwd, custom_bwd) in torch.amp with the device's type as an argument.
The shim has one of each, for the device that is there, with torch.cuda.amp's signature.
"""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome
from porter_rules.arguments import called, with_callee, with_value, without
from porter_rules.names import AMP
from porter_rules.nodes import argument, is_runtime, string_value

CUDA_MODULE = "torch.cuda.amp"

CUDA_ONLY = {f"torch.cuda.{name}": twin for name, twin in AMP.items()}

OF_A_DEVICE = {
    "torch.autocast": "autocast",
    "torch.amp.autocast": "autocast",
    "torch.amp.autocast_mode.autocast": "autocast",
    "torch.GradScaler": "GradScaler",
    "torch.amp.GradScaler": "GradScaler",
    "torch.amp.grad_scaler.GradScaler": "GradScaler",
    "torch.amp.custom_fwd": "custom_fwd",
    "torch.amp.autocast_mode.custom_fwd": "custom_fwd",
    "torch.amp.custom_bwd": "custom_bwd",
    "torch.amp.autocast_mode.custom_bwd": "custom_bwd",
}


def renamed(original: cst.Attribute, ctx: Context, *names: str) -> Outcome:
    """Return the shim's name for a dotted name of torch.cuda.amp that means one of `names`."""
    name = CUDA_ONLY.get(ctx.qualified(original) or "")
    return ctx.runtime(name) if name in names else None


def device_argument(
    original: cst.Call, ctx: Context, keyword: str, position: int | None
) -> tuple[int, cst.Arg] | None:
    """Return the index of the argument that names the device, and the argument."""
    _, start = called(original, ctx)
    arg = argument(original, keyword, None if position is None else start + position)
    return None if arg is None else (original.args.index(arg), arg)


def without_device(original: cst.Call, updated: cst.Call, ctx: Context, index: int) -> cst.Call:
    """Return the call of the shim's twin, less the argument that names the device."""
    qualified, start = called(original, ctx)
    twin = with_callee(updated, ctx.runtime(OF_A_DEVICE[qualified]), start)
    return twin.with_changes(args=without(twin.args, index))


def chosen_device(original: cst.Call, updated: cst.Call, ctx: Context, index: int) -> Outcome:
    """Answer for `"cuda" if <test> else "cpu"` in the place of a device's type.

    Where the test asks for the accelerator, the CPU keeps its own branch. Another test can be true
    on a CPU, where "cuda" means a disabled autocast and "cpu" an enabled one.
    """
    before, after = original.args[index].value, updated.args[index].value
    if not isinstance(before, cst.IfExp) or not isinstance(after, cst.IfExp):
        return None
    branches = [b for b in ("body", "orelse") if string_value(getattr(before, b)) == "cuda"]
    if not branches:
        return None
    if is_runtime(_unnegated(after.test), ctx):
        change = {branch: ctx.runtime("device_type") for branch in branches}
        return with_value(updated, index, after.with_changes(**change))
    return Manual(
        'the device type "cuda" under a test that can hold without an accelerator: '
        "pass the type of the device that the tensors are on, such as `x.device.type`",
        groups=ctx.guards,
    )


def _unnegated(test: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return test.expression
    return test
