"""A call of `torch.device`: what it becomes."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual
from porter_rules.device_strings import device_string

_STARRED = Manual(
    "torch.device with starred arguments: whether they hold an index is not known; "
    "write accel.torch_device(index)"
)


def is_constructor(node: cst.CSTNode, ctx: Context) -> bool:
    """Whether the node calls `torch.device`."""
    return isinstance(node, cst.Call) and ctx.qualified(node.func) == "torch.device"


def resolved(call: cst.Call, ctx: Context) -> cst.Call | Manual | None:
    """Return a call of torch.device for the device at hand; None where it doesn't name CUDA.

    Without an index the call stays one of torch.device, with `accel.device_type`; with an index
    it is `accel.torch_device(index)`.
    """
    if not call.args:
        return None
    named = {a.keyword.value: a for a in call.args if a.keyword is not None}
    kind = named.get("type", named.get("device", call.args[0]))
    index = named.get("index", call.args[1] if len(call.args) > 1 else None)
    found = device_string(kind.value, ctx)
    if found is None:
        return None
    if any(a.star for a in call.args) or len(call.args) > 2:
        return _STARRED
    if index is None and found.index is None:
        return call.with_changes(args=[kind.with_changes(value=found.as_device(ctx))])
    if index is None:
        only = kind.with_changes(value=found.index)
    else:
        only = index.with_changes(comma=call.args[-1].comma)
    arg = only.with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)
    return call.with_changes(func=ctx.runtime("torch_device"), args=[arg])
