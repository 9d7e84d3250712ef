"""Which expressions hold the index of a device: judged by what they are called."""

from __future__ import annotations

import re

import libcst as cst

from porter.rule import Context
from porter_rules.nodes import last_identifier

_NAME = re.compile(
    r"(?:[a-z]+_)?rank|(?:local_)?process_index"
    r"|gpu|(?:local_)?gpu_(?:id|idx|index|rank)|device_(?:id|index)"
)
_LISTS = frozenset({"gpu_ids", "device_ids", "gpus", "gpu_list"})
_FUNCTIONS = frozenset(
    {"get_rank", "get_local_rank", "get_node_local_rank", "local_rank", "get_device_id"}
)


def is_rank(node: cst.CSTNode, ctx: Context) -> bool:
    """Whether an expression is called like a rank or the index of a GPU.

    `rank`, `args.local_rank`, `gpu_ids[0]`, `dist.get_rank()`, `int(os.environ["LOCAL_RANK"])`,
    and any of these modulo something, or with a number in its default's place (`rank or 0`).
    """
    match node:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return _NAME.fullmatch(name.lower()) is not None
        case cst.Subscript(value=value):
            return last_identifier(value) in _LISTS or _is_local_rank(node, ctx)
        case cst.BinaryOperation(operator=cst.Modulo(), left=left):
            return is_rank(left, ctx)
        case cst.BooleanOperation(operator=cst.Or(), left=left, right=cst.Integer()):
            return is_rank(left, ctx)
        case cst.Call(func=cst.Name(value="int"), args=[cst.Arg(value=value), *_]):
            return is_rank(value, ctx)
        case cst.Call(func=func):
            return last_identifier(func) in _FUNCTIONS or _is_local_rank(node, ctx)
    return False


def _is_local_rank(node: cst.Subscript | cst.Call, ctx: Context) -> bool:
    """Whether this is `os.environ["LOCAL_RANK"]`, os.environ.get(...) or os.getenv(...) of it."""
    match node:
        case cst.Subscript(
            value=owner,
            slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))],
        ):
            read = ctx.qualified(owner) == "os.environ"
        case cst.Call(args=[cst.Arg(value=cst.SimpleString() as key), *_]):
            read = ctx.callee(node) in ("os.environ.get", "os.getenv")
        case _:
            return False
    return read and key.raw_value in ("LOCAL_RANK", "RANK")
