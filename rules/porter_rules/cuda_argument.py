"""What the device that `.cuda` takes becomes."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context
from porter_rules.device_strings import device_string, is_ported
from porter_rules.receivers import is_tensor_like


def ported_device(
    original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context
) -> cst.BaseExpression:
    """Return the device that an argument of `.cuda` names: an index, a string, a torch.device."""
    spelled = device_string(updated, ctx)
    if spelled is not None:
        return spelled.as_device(ctx)
    match original:
        case cst.Name(value="None"):
            return ctx.runtime("device_type")
        case cst.Call(
            func=cst.Attribute(value=owner, attr=cst.Name(value="get_device")), args=[]
        ) if is_tensor_like(owner):
            assert isinstance(updated, cst.Call)
            assert isinstance(updated.func, cst.Attribute)
            # get_device() is -1 on the CPU, which is no index.
            return updated.func.with_changes(attr=cst.Name("device"))
    return updated if is_ported(updated, ctx) else ctx.runtime_call("torch_device", updated)
