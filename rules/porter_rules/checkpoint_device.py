"""The device type of activation checkpointing."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Outcome, rule
from porter_rules.arguments import with_value
from porter_rules.nodes import argument, string_value

_SETTER = "torch.utils.checkpoint.DefaultDeviceType.set_device_type"


@rule(
    "PTR413",
    on=cst.Call,
    rewrites=[
        (
            "from torch.utils.checkpoint import DefaultDeviceType\n"
            'DefaultDeviceType.set_device_type("cuda")\n',
            "from torch.utils.checkpoint import DefaultDeviceType\n"
            "DefaultDeviceType.set_device_type(accel.device_type)\n",
        ),
    ],
    valid=["torch.utils.checkpoint.DefaultDeviceType.set_device_type(kind)"],
)
def checkpoint_device(original: cst.Call, updated: cst.Call, ctx: Context) -> Outcome:
    """Save the random state of the device that is there when activations are recomputed.

    torch.utils.checkpoint takes this type where no argument is on a device; torch_npu sets it to
    "npu" by itself, and a literal "cuda" would undo that. `accel.device_type` is "cuda" on CUDA, as
    before. A type that is not the literal "cuda" stays.
    """
    if ctx.callee(original) != _SETTER:
        return None
    arg = argument(original, "device", 0)
    if arg is None or string_value(arg.value) != "cuda":
        return None
    return with_value(updated, original.args.index(arg), ctx.runtime("device_type"))
