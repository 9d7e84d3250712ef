"""`custom_fwd` and `custom_bwd` of autograd functions."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Outcome, rule
from porter_rules.amp_names import (
    OF_A_DEVICE,
    chosen_device,
    device_argument,
    renamed,
    without_device,
)
from porter_rules.arguments import called
from porter_rules.nodes import string_value


@rule(
    "PTR403",
    on=(cst.Attribute, cst.Call),
    needs=("custom_fwd", "custom_bwd"),
    rewrites=[
        (
            "@torch.cuda.amp.custom_fwd\ndef forward(ctx, x): ...\n",
            "@accel.custom_fwd\ndef forward(ctx, x): ...\n",
        ),
        (
            "@torch.cuda.amp.custom_fwd(cast_inputs=torch.float32)\ndef forward(ctx, x): ...\n",
            "@accel.custom_fwd(cast_inputs=torch.float32)\ndef forward(ctx, x): ...\n",
        ),
        (
            "@torch.cuda.amp.custom_bwd\ndef backward(ctx, g): ...\n",
            "@accel.custom_bwd\ndef backward(ctx, g): ...\n",
        ),
        (
            '@torch.amp.custom_fwd(device_type="cuda", cast_inputs=torch.float32)\n'
            "def forward(ctx, x): ...\n",
            "@accel.custom_fwd(cast_inputs=torch.float32)\ndef forward(ctx, x): ...\n",
        ),
        (
            '@torch.amp.custom_bwd(device_type="cuda")\ndef backward(ctx, g): ...\n',
            "@accel.custom_bwd()\ndef backward(ctx, g): ...\n",
        ),
        (
            'import functools\nfwd = functools.partial(torch.amp.custom_fwd, device_type="cuda")\n',
            "import functools\nfwd = functools.partial(accel.custom_fwd)\n",
        ),
        (
            "from functools import partial\n"
            "fwd = partial(torch.cuda.amp.custom_fwd, cast_inputs=torch.float16)\n",
            "from functools import partial\n"
            "fwd = partial(accel.custom_fwd, cast_inputs=torch.float16)\n",
        ),
        ("fwd = torch.cuda.amp.custom_fwd", "fwd = accel.custom_fwd"),
        (
            'from torch.amp import custom_fwd\nf = custom_fwd(f, device_type="cuda")\n',
            "from torch.amp import custom_fwd\nf = accel.custom_fwd(f)\n",
        ),
    ],
    manual=[
        '@torch.amp.custom_fwd(device_type="cuda" if fast else "cpu")\ndef forward(ctx, x): ...\n',
    ],
    valid=["@torch.amp.custom_fwd(device_type=KIND)\ndef forward(ctx, x): ...\n"],
)
def custom_fwd_bwd(
    original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context
) -> Outcome:
    """Let autograd functions follow the autocast of the device that is there.

    With the device fixed to CUDA the cast of the inputs is skipped elsewhere without an error.
    `accel.custom_fwd` and `accel.custom_bwd` take what torch.cuda.amp's take, bare or called. On
    CUDA they are torch's own with the device type "cuda"; on the CPU they work without autocast.

    A device type that is not the literal "cuda" is portable and stays.
    """
    if isinstance(original, cst.Attribute):
        return renamed(original, ctx, "custom_fwd", "custom_bwd")
    assert isinstance(original, cst.Call)
    assert isinstance(updated, cst.Call)
    qualified, _ = called(original, ctx)
    if OF_A_DEVICE.get(qualified) not in ("custom_fwd", "custom_bwd"):
        return None
    found = device_argument(original, ctx, "device_type", None)
    if found is None:
        return None
    index, arg = found
    if string_value(arg.value) != "cuda":
        return chosen_device(original, updated, ctx, index)
    return without_device(original, updated, ctx, index)
