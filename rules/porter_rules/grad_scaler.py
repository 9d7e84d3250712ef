"""`torch.cuda.amp.GradScaler` and `torch.amp.GradScaler("cuda")`."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, rule
from porter_rules.amp_names import (
    OF_A_DEVICE,
    chosen_device,
    device_argument,
    renamed,
    without_device,
)
from porter_rules.arguments import called, has_stars, with_callee
from porter_rules.nodes import string_value


@rule(
    "PTR402",
    on=(cst.Attribute, cst.Call),
    needs=("GradScaler",),
    rewrites=[
        (
            "scaler = torch.cuda.amp.GradScaler(enabled=use_amp)",
            "scaler = accel.GradScaler(enabled=use_amp)",
        ),
        ("scaler = torch.cuda.amp.GradScaler(2.0**16)", "scaler = accel.GradScaler(2.0**16)"),
        ("scaler = torch.cuda.amp.GradScaler(**kw)", "scaler = accel.GradScaler(**kw)"),
        (
            "def f(scaler: torch.cuda.amp.GradScaler | None = None): ...",
            "def f(scaler: accel.GradScaler | None = None): ...",
        ),
        (
            "SAVE = {torch.cuda.amp.grad_scaler.GradScaler: save}",
            "SAVE = {accel.GradScaler: save}",
        ),
        (
            "from torch.cuda import amp\nscaler = amp.GradScaler(enabled=cuda)\n",
            "from torch.cuda import amp\nscaler = accel.GradScaler(enabled=cuda)\n",
        ),
        (
            'scaler = torch.amp.GradScaler("cuda", enabled=fp16)',
            "scaler = accel.GradScaler(enabled=fp16)",
        ),
        (
            'scaler = torch.amp.GradScaler("cuda", 2.0**10)',
            "scaler = accel.GradScaler(2.0**10)",
        ),
        (
            'scaler = torch.amp.GradScaler(init_scale=8.0, device="cuda")',
            "scaler = accel.GradScaler(init_scale=8.0)",
        ),
        ('scaler = torch.GradScaler("cuda")', "scaler = accel.GradScaler()"),
        ("scaler = torch.amp.GradScaler()", "scaler = accel.GradScaler()"),
        (
            "from torch.amp import GradScaler\nscaler = GradScaler(enabled=fp16)\n",
            "from torch.amp import GradScaler\nscaler = accel.GradScaler(enabled=fp16)\n",
        ),
    ],
    manual=[
        "scaler = torch.amp.GradScaler(**kwargs)",
        'scaler = torch.amp.GradScaler("cuda" if fp16 else "cpu")',
    ],
    valid=[
        "scaler = torch.amp.GradScaler(device.type)",
        'scaler = torch.amp.GradScaler("cpu")',
        "scaler = fairscale.optim.grad_scaler.ShardedGradScaler()",
    ],
)
def grad_scaler(original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context) -> Outcome:
    """Scale losses on the device that is there: `accel.GradScaler`.

    Off CUDA both spellings disable themselves, so that float16 trains unscaled; torch.amp's takes
    the device first, and "cuda" where none is given. `accel.GradScaler` has the signature of
    torch.cuda.amp.GradScaler, so the other arguments stay in their places. On CUDA it is torch's
    own scaler, on an NPU torch_npu's; on the CPU it is disabled with one warning, and states
    saved on another device load.

    A scaler for a device that is not the literal "cuda" is portable and stays.
    """
    if isinstance(original, cst.Attribute):
        return renamed(original, ctx, "GradScaler")
    assert isinstance(original, cst.Call)
    assert isinstance(updated, cst.Call)
    qualified, start = called(original, ctx)
    if OF_A_DEVICE.get(qualified) != "GradScaler":
        return None
    found = device_argument(original, ctx, "device", 0)
    if found is None:
        if has_stars(original):
            return Manual(
                "torch.amp.GradScaler with arguments behind a star, which may hold a device or "
                "not: write them out, as `accel.GradScaler(init_scale=..., enabled=...)`",
                groups=ctx.guards,
            )
        return with_callee(updated, ctx.runtime("GradScaler"), start)
    index, arg = found
    if string_value(arg.value) != "cuda":
        return chosen_device(original, updated, ctx, index)
    return without_device(original, updated, ctx, index)
