"""The names of torch.distributed's backends, and where such a name stands."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from porter.rule import Context, Role
from porter_rules.nodes import string_value
from porter_rules.telling import is_message

GROUP = "nccl"
"""Default, choices, comparison and call are ported together in a file, or not at all."""

WITH_CPU = "cpu:gloo,cuda:nccl"
"""The backend for both kinds of tensors, as torch's documentation spells it."""

_CLASS = frozenset(
    {"torch.distributed.Backend", "torch.distributed.distributed_c10d.Backend"},
)
_NAME = re.compile(r"backend|nccl|dist|comm|process_?group|(?:^|_)pg(?:_|$)", re.IGNORECASE)

_POSITIONS = {"init_process_group": 0, "is_backend_available": 0, "new_group": 2}
_POSITIONS |= {"init_distributed": 0, "Backend": 0}
"""Where functions of torch.distributed and DeepSpeed take a backend."""


def is_nccl(node: cst.BaseExpression, ctx: Context) -> bool:
    """Whether an expression is "nccl", in any case, or `Backend.NCCL`."""
    value = string_value(node)
    if value is not None:
        return value.lower() == "nccl"
    return isinstance(node, cst.Attribute) and is_member(node, ctx)


def is_member(node: cst.Attribute, ctx: Context) -> bool:
    """Whether a dotted name is the member of torch.distributed.Backend that means NCCL."""
    return node.attr.value == "NCCL" and ctx.qualified(node.value) in _CLASS


def accelerator_backend(node: cst.BaseExpression, ctx: Context) -> cst.BaseExpression:
    """Return what stands for `node`, which is "nccl", on any device; "NCCL" stays upper case."""
    call = ctx.runtime_call("dist_backend")
    value = string_value(node)
    if value is None or value == "nccl":
        return call
    return cst.Call(cst.Attribute(call, cst.Name("upper")))


def is_text(role: Role) -> bool:
    """Whether people read the string."""
    by_keyword = role.kind == "keyword" and role.name in ("help", "metavar", "reason", "msg")
    return (
        role.kind in ("statement", "formatted", "raise", "annotation")
        or by_keyword
        or (role.kind == "argument" and is_message(role.callee))
    )


def is_choices(role: Role | None) -> bool:
    """Whether a list is what an option admits: argparse, click, a dataclass field's metadata."""
    if role is None:
        return False
    if role.kind in ("keyword", "value"):
        return role.name == "choices"
    return role.kind == "argument" and role.callee.rpartition(".")[2] == "Choice"


def means_backend(node: cst.BaseExpression, ctx: Context) -> bool:
    """Whether a value is a backend of torch.distributed, judged by where it stands.

    The values before it in the same call or list speak too: `pop("backend", "nccl")`.
    """
    role = ctx.role(node)
    match role.kind:
        case "assign" | "return" | "value" | "iterate" | "default":
            return _is_backend_name(role.name)
        case "keyword":
            return role.name == "default" or _is_backend_name(role.name)
        case "argument":
            if _POSITIONS.get(role.callee.rpartition(".")[2]) == role.position:
                return True
            if _declares_backend(role, ctx):
                return True
        case "element":
            outer = role.outer
            if is_choices(outer):
                return True
            if outer is not None and outer.kind == "assign" and _is_backend_name(outer.name):
                return True
        case _:
            return False
    return any(_is_backend_name(string_value(s) or "") for s in _siblings(ctx))


def _declares_backend(role: Role, ctx: Context) -> bool:
    """Whether this is the first argument of what a backend's field or parameter is declared with.

    `backend: str = Field("nccl")`, `def main(backend=typer.Option("nccl")): ...`.
    """
    declared = ctx.fragment_role
    return (
        role.kind == "argument"
        and role.position == 0
        and len(ctx.stack) == 2
        and role.callee.rpartition(".")[2] in ("Field", "Option", "Argument", "field", "ib")
        and declared.kind in ("assign", "default")
        and _is_backend_name(declared.name)
    )


def _siblings(ctx: Context) -> Iterator[cst.BaseExpression]:
    """Yield the values before the node in its call, or the one before it in its list."""
    if len(ctx.stack) < 2:
        return
    holder, around = ctx.stack[-1], ctx.stack[-2]
    if isinstance(holder, cst.Arg) and isinstance(around, cst.Call):
        yield from (a.value for a in around.args[: around.args.index(holder)])
    elif isinstance(holder, cst.Element) and isinstance(around, cst.List | cst.Tuple):
        at = around.elements.index(holder)
        yield from (e.value for e in around.elements[max(at - 1, 0) : at])


def _is_backend_name(name: str) -> bool:
    """Whether something of this name holds a backend."""
    return _NAME.search(name) is not None
