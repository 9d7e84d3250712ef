"""`ProfilerActivity.CUDA`."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, Role, rule

_COLLECTS = frozenset({"append", "add", "insert", "extend"})


@rule(
    "PTR410",
    on=(cst.List, cst.Attribute),
    needs=("rofiler",),
    rewrites=[
        (
            "from torch.profiler import ProfilerActivity, profile\n"
            "p = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])\n",
            "from torch.profiler import ProfilerActivity, profile\n"
            "p = profile(activities=accel.profiler_activities())\n",
        ),
        (
            "acts = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]",
            "acts = accel.profiler_activities()",
        ),
        (
            "p = profile(activities=[torch.profiler.ProfilerActivity.CUDA])",
            "p = profile(activities=[accel.profiler_activities()[-1]])",
        ),
        (
            "acts.append(torch.profiler.ProfilerActivity.CUDA)",
            "acts.append(accel.profiler_activities()[-1])",
        ),
        (
            "import torch.profiler as p\nx = (p.ProfilerActivity.CPU, p.ProfilerActivity.CUDA)\n",
            "import torch.profiler as p\n"
            "x = (p.ProfilerActivity.CPU, accel.profiler_activities()[-1])\n",
        ),
    ],
    manual=[
        "if torch.profiler.ProfilerActivity.CUDA in acts:\n    pass\n",
        "NAMES = {torch.profiler.ProfilerActivity.CUDA: 'gpu'}",
    ],
    valid=["acts = [torch.profiler.ProfilerActivity.CPU]", "Device.CUDA"],
)
def profiler_activity(
    original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context
) -> Outcome:
    """Profile the device that is there: `accel.profiler_activities()`.

    The shim answers with the list of the CPU's activity and the device's own, which comes last;
    without an accelerator the CPU's is the only one. torch refuses an activity that the machine
    lacks. On CUDA the list is the one that stood here.

    Comparisons and keys stay, since on the CPU both members would be the same.
    """
    if isinstance(original, cst.List):
        members = [_member(e.value) for e in original.elements]
        return ctx.runtime_call("profiler_activities") if members == ["CPU", "CUDA"] else None
    if _member(original) != "CUDA":
        return None
    if not _is_collected(ctx.role(original)):
        return Manual(
            "ProfilerActivity.CUDA is compared or looked up, and on an NPU the member is another "
            "one: compare with `accel.profiler_activities()[-1]` under `accel.is_available()`",
            groups=ctx.guards,
        )
    last = cst.UnaryOperation(cst.Minus(), cst.Integer("1"))
    activities = ctx.runtime_call("profiler_activities")
    return cst.Subscript(activities, [cst.SubscriptElement(cst.Index(last))])


def _member(node: cst.BaseExpression) -> str | None:
    """Return which member of ProfilerActivity an expression names."""
    match node:
        case cst.Attribute(
            value=cst.Name("ProfilerActivity") | cst.Attribute(attr=cst.Name("ProfilerActivity")),
            attr=cst.Name(value=member),
        ):
            return member
    return None


def _is_collected(role: Role) -> bool:
    """Whether the activity is one of those that shall be recorded."""
    if role.kind == "argument":
        return role.callee.rpartition(".")[2] in _COLLECTS
    return role.kind in ("element", "assign", "return")
