"""Questions about autocast's state: `torch.is_autocast_enabled()` and its kin."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, rule
from porter_rules.arguments import with_value
from porter_rules.nodes import string_value

_QUESTIONS = {
    "torch.is_autocast_enabled": "is_autocast_enabled",
    "torch.get_autocast_gpu_dtype": "get_autocast_gpu_dtype",
    "torch.get_autocast_dtype": "get_autocast_gpu_dtype",
}
_SETTERS = frozenset(
    {"torch.set_autocast_enabled", "torch.set_autocast_gpu_dtype", "torch.set_autocast_dtype"}
)


@rule(
    "PTR404",
    on=cst.Call,
    needs=("autocast",),
    rewrites=[
        (
            "if torch.is_autocast_enabled():\n    dt = torch.get_autocast_gpu_dtype()\n",
            "if accel.is_autocast_enabled():\n    dt = accel.get_autocast_gpu_dtype()\n",
        ),
        (
            'on = torch.is_autocast_enabled("cuda")',
            "on = accel.is_autocast_enabled()",
        ),
        (
            'dt = torch.get_autocast_dtype("cuda")',
            "dt = accel.get_autocast_gpu_dtype()",
        ),
        (
            "fp16 = torch.get_autocast_gpu_dtype() == torch.float16",
            "fp16 = accel.get_autocast_gpu_dtype() == torch.float16",
        ),
        (
            'ok = torch.amp.is_autocast_available("cuda")',
            "ok = torch.amp.is_autocast_available(accel.device_type)",
        ),
    ],
    manual=[
        "torch.set_autocast_gpu_dtype(torch.bfloat16)",
        "torch.set_autocast_enabled(True)",
        'torch.set_autocast_dtype("cuda", d)',
    ],
    valid=[
        "on = torch.is_autocast_enabled(x.device.type)",
        "dt = torch.get_autocast_dtype(kind)",
        "torch.set_autocast_enabled(kind, True)",
        "torch.set_autocast_enabled()",
        "on = torch.is_autocast_cpu_enabled()",
    ],
)
def autocast_state(original: cst.Call, updated: cst.Call, ctx: Context) -> Outcome:
    """Ask for the autocast state of the device that is there.

    Without an argument torch answers for CUDA: on an NPU `is_autocast_enabled()` is False inside
    `accel.autocast()`, and the branch for mixed precision is skipped without an error. The shim's
    questions are torch's own on CUDA and on the CPU.

    The setters stay: they only make sense in pairs around a region, which `with
    accel.autocast(...)` does for every device.
    """
    qualified = ctx.callee(original)
    args = [a.value for a in original.args]
    for_cuda = len(args) == 1 and string_value(args[0]) == "cuda"
    if qualified == "torch.amp.is_autocast_available" and for_cuda:
        return with_value(updated, 0, ctx.runtime("device_type"))
    if qualified in _QUESTIONS and (not args or for_cuda):
        return updated.with_changes(func=ctx.runtime(_QUESTIONS[qualified]), args=[])
    for_cuda = len(args) == 1 or (len(args) > 1 and string_value(args[0]) == "cuda")
    if qualified in _SETTERS and for_cuda:
        return Manual(
            f"`{qualified}` changes the autocast state of CUDA alone: "
            "use `with accel.autocast(enabled=..., dtype=...)` around the region",
            groups=ctx.guards,
        )
    return None
