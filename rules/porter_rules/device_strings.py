"""What a device string is, in all its spellings, and how its index is written for the shim."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from porter.rule import Context
from porter_rules.nodes import alternatives, branches, elements, is_runtime, string_value

OTHER_DEVICES = frozenset({"cpu", "mps", "xpu", "npu", "hpu", "mlu", "musa", "tpu", "xla", "meta"})
"""Types of devices beside "cuda": a string next to one of these is a device as well."""

SPELLINGS = (cst.SimpleString, cst.FormattedString, cst.BinaryOperation, cst.Call)
"""The types of nodes that can spell a device string."""

_INDEXED = re.compile(r"cuda:(0|[1-9]\d*)")
_PERCENT = frozenset({"cuda:%d", "cuda:%i", "cuda:%s"})
_FORMAT = re.compile(r"cuda:\{(\w*)(?::d)?\}")


@dataclass(frozen=True)
class DeviceString:
    """`"cuda"`, or a string that names a CUDA device by the value of `index`."""

    index: cst.BaseExpression | None = None

    def as_device(self, ctx: Context) -> cst.BaseExpression:
        """Return the port for a place that takes a torch.device as well as a str."""
        if self.index is None:
            return ctx.runtime("device_type")
        return ctx.runtime_call("torch_device", self.index)

    def as_text(self, ctx: Context) -> cst.BaseExpression:
        """Return the port for a place in which a str has to stay a str."""
        if self.index is None:
            return ctx.runtime("device_type")
        return cst.Call(cst.Name("str"), [cst.Arg(self.as_device(ctx))])


def device_string(node: cst.CSTNode, ctx: Context) -> DeviceString | None:
    """Return what device string the node spells, None where it spells none.

    Accepted are "cuda", "cuda:1", f"cuda:{i}", "cuda:%d" % i, "cuda:" + str(i) and
    "cuda:{}".format(i).
    """
    match node:
        case cst.SimpleString():
            return _literal(string_value(node) or "")
        case cst.FormattedString(parts=parts):
            return _formatted(parts, ctx)
        case cst.BinaryOperation(operator=cst.Add()) if string_value(node.left) == "cuda:":
            return _indexed(node.right, ctx)
        case cst.BinaryOperation(operator=cst.Modulo()) if string_value(node.left) in _PERCENT:
            return _indexed(node.right, ctx)
        case cst.Call(func=cst.Attribute(value=template, attr=cst.Name(value="format"))):
            return _format_call(string_value(template) or "", node.args, ctx)
    return None


def gives_text(node: cst.CSTNode, ctx: Context) -> bool:
    """Whether the node spells a device string, or is a choice, list or sum that may give one."""
    match node:
        case cst.ListComp(elt=each) | cst.SetComp(elt=each) | cst.GeneratorExp(elt=each):
            return gives_text(each, ctx)
        case cst.BinaryOperation(left=left, right=right):
            parts = [left, right]
        case _:
            parts = [*branches(node), *elements(node)]
    return device_string(node, ctx) is not None or any(gives_text(part, ctx) for part in parts)


def is_ported(node: cst.CSTNode, ctx: Context) -> bool:
    """Whether the node is what a device string becomes, or became in an earlier run."""
    match node:
        case cst.Call(func=cst.Name(value="str"), args=[cst.Arg(value=inner)]):
            return is_ported(inner, ctx)
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="torch_device"))):
            return is_runtime(node, ctx)
        case cst.Attribute(attr=cst.Name(value="device_type")):
            return is_runtime(node, ctx)
    return False


def is_other_device(node: cst.CSTNode) -> bool:
    """Whether the node is a string that names a device of another type, such as "cpu"."""
    value = string_value(node)
    return value is not None and value.partition(":")[0] in OTHER_DEVICES


def looks_like_device(node: cst.CSTNode) -> bool:
    """Whether a string starts as a device string does, whatever comes behind that."""
    match node:
        case cst.SimpleString():
            value = string_value(node) or ""
        case cst.FormattedString(parts=[cst.FormattedStringText(), *_] as parts):
            value = "".join(p.value for p in parts if isinstance(p, cst.FormattedStringText))
        case cst.ConcatenatedString(left=left):
            return looks_like_device(left)
        case _:
            return False
    if value == "cuda":
        return True
    # "cuda:nccl,cpu:gloo" is a backend of torch.distributed; "cuda:0 or cpu" is prose.
    return value.startswith("cuda:") and "nccl" not in value and " " not in value


def _literal(value: str) -> DeviceString | None:
    if value == "cuda":
        return DeviceString()
    found = _INDEXED.fullmatch(value)
    return DeviceString(cst.Integer(found[1])) if found else None


def _formatted(
    parts: Sequence[cst.BaseFormattedStringContent], ctx: Context
) -> DeviceString | None:
    match parts:
        case [cst.FormattedStringText(value=value)]:
            return _literal(value)
        case [
            cst.FormattedStringText(value="cuda:"),
            cst.FormattedStringExpression(
                expression=index,
                equal=None,
                conversion=None | "s",
                format_spec=None | [cst.FormattedStringText(value="d")],
            ),
        ]:
            return _indexed(index, ctx)
    return None


def _format_call(template: str, args: Sequence[cst.Arg], ctx: Context) -> DeviceString | None:
    found = _FORMAT.fullmatch(template)
    if found is None or len(args) != 1 or args[0].star:
        return None
    keyword = args[0].keyword.value if args[0].keyword is not None else ""
    field = found[1] if found[1] != "0" else ""
    return _indexed(args[0].value, ctx) if keyword == field else None


def _indexed(index: cst.BaseExpression, ctx: Context) -> DeviceString | None:
    """Take the text that is made of the index off again: the shim takes "1" as well as 1."""
    match index:
        case cst.Tuple(elements=[cst.Element(value=only)]):
            return _indexed(only, ctx)
        case cst.Tuple() | cst.Dict() | cst.Yield() | cst.SimpleString():
            return None
        case _ if gives_text(index, ctx):
            return None
        case _ if any(is_other_device(e) or is_ported(e, ctx) for e in alternatives(index)):
            return None
        case cst.Call(args=[cst.Arg(value=inner, keyword=None, star="")]) if (
            ctx.qualified(index.func) == "builtins.str"
        ):
            return _indexed(inner, ctx)
        case cst.GeneratorExp() | cst.NamedExpr():
            return DeviceString(index)
    return DeviceString(index.with_changes(lpar=[], rpar=[]))
