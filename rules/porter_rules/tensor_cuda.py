"""`.cuda()` on tensors and modules."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, rule


@rule(
    "PTR101",
    on=cst.Call,
    rewrites=[
        ("x.cuda()", "x.to(accel.device_type)"),
    ],
)
def tensor_cuda(original: cst.Call, updated: cst.Call, ctx: Context) -> Outcome:
    """Move tensors and modules to the resolved device."""
    func = updated.func
    if not isinstance(func, cst.Attribute) or func.attr.value != "cuda":
        return None
    if updated.args:
        return Manual("arguments")
    return updated.with_changes(
        func=func.with_changes(attr=func.attr.with_changes(value="to")),
        args=[cst.Arg(ctx.runtime("device_type"))],
    )
