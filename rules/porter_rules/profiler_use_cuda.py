"""The profilers' argument `use_cuda`."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, rule
from porter_rules.arguments import called
from porter_rules.nodes import argument

_PROFILERS = frozenset(
    {
        "torch.autograd.profiler.profile",
        "torch.autograd.profiler_legacy.profile",
        "torch.profiler.profile",
    }
)


@rule(
    "PTR411",
    on=cst.Call,
    needs=("use_cuda",),
    manual=[
        "with torch.autograd.profiler.profile(use_cuda=True) as prof:\n    pass\n",
        "with torch.autograd.profiler.profile(use_cuda=torch.cuda.is_available()):\n    pass\n",
        "with torch.autograd.profiler.profile(True, use_cuda=flag):\n    pass\n",
    ],
    valid=[
        "with torch.autograd.profiler.profile(use_cuda=False):\n    pass\n",
        "model.run(use_cuda=True)",
    ],
)
def profiler_use_cuda(original: cst.Call, updated: cst.Call, ctx: Context) -> Outcome:
    """Report the profilers' deprecated argument use_cuda.

    It has no counterpart for other devices: there torch warns and records the CPU alone. Use
    torch.profiler.profile with activities, which porter ports.
    """
    callee, _ = called(original, ctx)
    arg = argument(original, "use_cuda", None)
    if callee not in _PROFILERS or arg is None:
        return None
    if isinstance(arg.value, cst.Name) and arg.value.value == "False":
        return None
    return Manual(
        f"`use_cuda` of {callee} records CUDA alone and is deprecated: "
        "use torch.profiler.profile(activities=accel.profiler_activities())",
        groups=ctx.guards,
    )
