"""Which identifiers, options and expressions hold a device: a table of the field's habits."""

from __future__ import annotations

import re

import libcst as cst

from porter.rule import Context
from porter_rules.device_strings import device_string, is_other_device, is_ported
from porter_rules.nodes import argument, branches, string_value

_NAME = re.compile(
    r"(?:.*[a-z0-9_])?devices?"  # device, torch_device, mydevice, devices
    r"|(?:.*_)?devs?"
    r"|device_(?:name|kind|spec|arg|choice|option|id|ids|list)"
    r"|(?:.*_)?device_(?:type|types|str|string)"
    r"|(?:.*_)?map_?location"
)

KEYED = {"get": 0, "pop": 0, "setdefault": 0, "getenv": 0, "getattr": 1, "DEFINE_string": 0}
"""Functions that look a name up, by the position of the name; a fallback stands behind it."""


def names_device(name: str) -> bool:
    """Whether an identifier, an option ("--device") or a key ("model.device") means a device."""
    plain = name.lower().strip("-_").replace("-", "_").rpartition(".")[2].rstrip("0123456789_")
    return _NAME.fullmatch(plain) is not None


def last_name(callee: str) -> str:
    """Return the last part of a dotted name."""
    return callee.rpartition(".")[2]


def declares_device(call: cst.Call) -> bool:
    """Whether a call that declares an option calls it a device: "--device", dest="device"."""
    names = [a.value for a in call.args if a.keyword is None or a.keyword.value == "dest"]
    return any(names_device(string_value(n) or "") for n in names)


def is_device_expression(node: cst.CSTNode, ctx: Context) -> bool:
    """Whether the expression says by its form or its names that it gives a device."""
    if has_index(node, ctx):
        return True
    match node:
        case cst.SimpleString():
            return is_other_device(node)
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return names_device(name)
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=key))]):
            return names_device(string_value(key) or "")
        case cst.IfExp() | cst.BooleanOperation():
            return any(is_device_expression(branch, ctx) for branch in branches(node))
        case cst.Call():
            return _gives_device(node, last_name(ctx.callee(node)), ctx)
    return False


def has_index(node: cst.CSTNode, ctx: Context) -> bool:
    """Whether a text spells a device with its index, be it ported: nothing else has an index."""
    device = device_string(node, ctx)
    if device is not None:
        return device.index is not None
    is_text = isinstance(node, cst.Call) and isinstance(node.func, cst.Name)
    return is_text and is_ported(node, ctx)


def _gives_device(call: cst.Call, name: str, ctx: Context) -> bool:
    if name in KEYED:
        key = argument(call, None, KEYED[name])
        return key is not None and names_device(string_value(key.value) or "")
    if name == "str" and len(call.args) == 1:
        return is_device_expression(call.args[0].value, ctx)
    return names_device(name)
