"""What is done with the variables that hold the index of a device."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from porter.engine.naming import last_name

_NUMERIC = frozenset({"range", "int", "str", "float", "bool"})


def holds_index(value: ast.expr) -> bool:
    """Whether what gets this value may hold a device's index: the current one's, or a choice."""
    choices = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
    return any(
        last_name(choice) == "current_device" or (choice is not value and _is_integer(choice))
        for choice in choices
    )


def index_uses(target: ast.Name | ast.Attribute, scope: ast.AST, file: ast.Module) -> Iterator[str]:
    """Yield the flags that tell how the holder of a device's index is used.

    "number:x" where it is compared, calculated with, written into a text or looked up with, for
    which a torch.device would not do; "device:x" where it is handed on as a device. A variable is
    looked for in its scope, an attribute in the whole file.
    """
    holder, name = ast.unparse(target), last_name(target)

    def is_holder(node: ast.expr) -> bool:
        return last_name(node) == name and ast.unparse(node) == holder

    for node in ast.walk(file if isinstance(target, ast.Attribute) else scope):
        if any(map(is_holder, _numbers(node))):
            yield f"number:{name}"
        if any(map(is_holder, _devices(node))):
            yield f"device:{name}"


def _is_integer(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def _numbers(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what a node uses as a number, or writes into a text that is no device string."""
    match node:
        case ast.Compare(left=left, comparators=others):
            operands = [left, *others]
            if not any(_is_text(o) or _is_none(o) for o in operands):
                yield from operands
        case ast.BinOp(left=ast.Constant(value=str() as text), right=right):
            if not text.startswith("cuda:"):
                yield from right.elts if isinstance(right, ast.Tuple) else [right]
        case ast.BinOp(left=left, right=right):
            yield from (left, right)
        case ast.AugAssign(target=target, value=value):
            yield from (target, value)
        case ast.Subscript(slice=index):
            yield index
        case ast.JoinedStr(values=values):
            for before, part in pairwise([None, *values]):
                if isinstance(part, ast.FormattedValue) and not _ends_in_cuda(before):
                    yield part.value
        case ast.Call(func=ast.Attribute(value=value, attr="format"), args=args, keywords=more):
            if not (isinstance(value, ast.Constant) and str(value.value).startswith("cuda:")):
                yield from (*args, *(k.value for k in more))
        case ast.Call(func=func, args=args):
            name = last_name(func)
            if name in _NUMERIC or name.endswith("Index"):
                yield from args


def _devices(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what a node hands on as a device to another than torch.cuda's own functions."""
    match node:
        case ast.Call(func=func, args=args, keywords=keywords):
            if "cuda" in ast.unparse(func):
                return
            yield from (k.value for k in keywords if k.arg in ("device", "map_location"))
            if last_name(func) == "to":
                yield from args[:1]


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _ends_in_cuda(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and str(node.value).endswith("cuda:")
