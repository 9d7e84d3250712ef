"""What is left of `torch.cuda.amp` when its mirrored names are gone."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Note, Outcome, rule
from porter_rules.amp_names import CUDA_MODULE, CUDA_ONLY
from porter_rules.names import MOVED_FROM_AMP, OPT_STATE, OPT_STATE_IS_SHARED

_QUESTION = "builtins.hasattr"
_NO_TWIN = (
    "has no counterpart off CUDA: the shim has autocast, GradScaler, custom_fwd and custom_bwd; "
    "for the question whether there is an accelerator ask `accel.is_available()`"
)


@rule(
    "PTR405",
    on=(cst.Attribute, cst.Call),
    needs=("amp",),
    manual=[
        "if torch.cuda.amp.common.amp_definitely_not_available():\n    pass\n",
        "with torch.cuda.amp.scale_loss(loss, opt) as scaled:\n    pass\n",
        "make = getattr(torch.cuda.amp, name)",
        "from torch.cuda import amp\nuse(amp)\n",
        "new = torch.cuda.amp.grad_scaler._refresh_per_optimizer_state",
    ],
    notes=[
        "state = torch.cuda.amp.grad_scaler.OptState.READY",
        'has_amp = hasattr(torch.cuda.amp, "autocast")',
        'from torch.cuda import amp\nhas_amp = hasattr(amp, "GradScaler")\n',
    ],
    valid=[
        "cm = torch.cuda.amp.autocast()",
        "kind = torch.cuda.amp.GradScaler.__name__",
        "import torch.cuda.amp\n",
    ],
)
def amp_module(original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context) -> Outcome:
    """Report what torch.cuda.amp holds beside autocast, GradScaler, custom_fwd and custom_bwd.

    The shim has these four and no module `amp`, so a reference to the module itself can't be
    redirected: write the names out. `hasattr(torch.cuda.amp, ...)` asks for a version of torch,
    which has the same answer on every device, and stays; so does the enum OptState, which is not
    CUDA's.
    """
    if isinstance(original, cst.Call):
        return _handed_over(original, ctx)
    assert isinstance(original, cst.Attribute)
    qualified = ctx.qualified(original) or ""
    parent = ctx.parent
    if not f"{qualified}.".startswith(f"{CUDA_MODULE}.") or isinstance(parent, cst.Attribute):
        return None
    if any(qualified == n or qualified.startswith(f"{n}.") for n in CUDA_ONLY):
        return None
    if f"{qualified}.".startswith(f"torch.cuda.{OPT_STATE}."):
        return Note(OPT_STATE_IS_SHARED)
    if qualified == CUDA_MODULE and _is_first_of_hasattr(original, ctx):
        return None
    if qualified == CUDA_MODULE:
        return _module(ctx)
    reason = MOVED_FROM_AMP.get(qualified.removeprefix("torch.cuda."), _NO_TWIN)
    return Manual(f"`{qualified}` {reason}", groups=ctx.guards)


def _handed_over(call: cst.Call, ctx: Context) -> Outcome:
    """Answer for calls that take the module as an argument, also under an imported name."""
    taken = [a for a in call.args if ctx.qualified(a.value) == CUDA_MODULE]
    if not taken:
        return None
    if ctx.callee(call) == _QUESTION:
        return Note(
            "asks whether this torch has the name, not whether there is a CUDA device: "
            "the answer is the same everywhere"
        )
    return _module(ctx) if all(isinstance(a.value, cst.Name) for a in taken) else None


def _is_first_of_hasattr(node: cst.Attribute, ctx: Context) -> bool:
    call = ctx.stack[-2] if len(ctx.stack) > 1 else None
    return isinstance(call, cst.Call) and ctx.callee(call) == _QUESTION


def _module(ctx: Context) -> Manual:
    return Manual(
        "the module torch.cuda.amp is passed on, and its names always mean CUDA: "
        "use the shim's autocast, GradScaler, custom_fwd and custom_bwd by name",
        groups=ctx.guards,
    )
