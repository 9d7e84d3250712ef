"""A call of `torch.device`: what it becomes."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual
from porter_rules.device_strings import DeviceString, device_string, gives_text
from porter_rules.nodes import argument

_STARRED = Manual(
    "torch.device with starred arguments: whether they hold an index is not known; "
    "write accel.torch_device(index)"
)


def is_constructor(node: cst.CSTNode, ctx: Context) -> bool:
    """Whether the node calls `torch.device`."""
    return isinstance(node, cst.Call) and ctx.qualified(node.func) == "torch.device"


def resolved(call: cst.Call, ctx: Context) -> cst.Call | Manual | None:
    """Return a call of torch.device for the device at hand; None where it names no CUDA device.

    Without an index the call stays one of torch.device, with `accel.device_type`; with an index
    it is `accel.torch_device(index)`.
    """
    if not call.args:
        return None
    kind = argument(call, "type", 0) or argument(call, "device", 0) or call.args[0]
    index = argument(call, "index", 1)
    found = device_string(kind.value, ctx)
    if found is None:
        return None
    if any(a.star for a in call.args) or len(call.args) > 2:
        return _STARRED
    if index is kind or (index is not None and not _may_be_index(index, found, ctx)):
        return None  # torch refuses that
    if len(call.args) > 1 and index is None:
        return None  # and that
    if index is None and found.index is None:
        return call.with_changes(args=[kind.with_changes(value=found.as_device(ctx))])
    if index is None:
        only = kind.with_changes(value=found.index)
    else:
        only = index.with_changes(comma=call.args[-1].comma)
    arg = only.with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)
    return call.with_changes(func=ctx.runtime("torch_device"), args=[arg])


def _may_be_index(index: cst.Arg, device: DeviceString, ctx: Context) -> bool:
    text = isinstance(index.value, cst.BaseString) or gives_text(index.value, ctx)
    return device.index is None and not text
