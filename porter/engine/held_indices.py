"""What is done with the variables that hold the index of a device."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from porter.engine.naming import last_name

_TAKING = re.compile(rb"\bcurrent_device\(|\b\d+\s+if\b")
_NUMERIC = frozenset({"range", "int", "str", "float", "bool"})


def held_indices(tree: ast.AST, text: bytes, file: ast.Module) -> frozenset[str]:
    """Return how a function or module uses the variables that hold a device's index.

    "number:x" for one that is compared, calculated with, written into a text or looked up with,
    for which a torch.device would not do; "device:x" for one that is handed on as a device. They
    are only looked for where a variable gets the current device, or an index by a choice. What is
    done with an attribute is looked for in the whole file.
    """
    if not _TAKING.search(text):
        return frozenset()
    held = {ast.unparse(t): t for t in _taking(tree)}
    if not held:
        return frozenset()
    where = file if any(isinstance(t, ast.Attribute) for t in held.values()) else tree
    flags: set[str] = set()
    for node in ast.walk(where):
        flags.update(f"number:{name}" for name in _names(_numbers(node), held))
        flags.update(f"device:{name}" for name in _names(_devices(node), held))
    return frozenset(flags)


def _names(uses: Iterator[ast.expr], held: dict[str, ast.expr]) -> Iterator[str]:
    for use in uses:
        if isinstance(use, ast.Name | ast.Attribute) and ast.unparse(use) in held:
            yield last_name(use)


def _taking(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield the variables that get the index of a device."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[target], value=value):
                pass
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                pass
            case _:
                continue
        choices = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
        if any(last_name(c) == "current_device" or _is_integer(c) for c in choices):
            yield target


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
