"""Places that the code around a device string makes plain: map_location, a key, a Literal."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Role
from porter_rules.device_arguments import above
from porter_rules.device_names import last_name


def is_map_location(role: Role | None) -> bool:
    """Whether the role is that of torch.load's map_location, or of a variable named so."""
    if role is None:
        return False
    if role.kind == "argument":
        return last_name(role.callee) == "load" and role.position == 1
    return role.kind in ("keyword", "assign", "default") and "map_location" in role.name


def is_placed_storage(node: cst.CSTNode, ctx: Context) -> bool:
    """Whether it is what a lambda for map_location has to place, of which PTR307 judges all."""
    function, around = above(ctx, cst.Lambda)
    match function, node:
        case cst.Lambda(params=cst.Parameters(params=[first, *_])), cst.Name(value=name):
            return first.name.value == name and is_map_location(around.role(function))
    return False


def keyed(ctx: Context) -> tuple[cst.CSTNode | None, Role]:
    """Return the dict, or dict comprehension, in which the node is a key, and its role.

    The dict is None where it isn't seen (see `above`).
    """
    shown, around = above(ctx, cst.Dict, cst.DictComp)
    if shown is None:
        return None, ctx.fragment_role.outer or Role("other")
    return shown, around.role(shown)


def is_literal_type(ctx: Context) -> bool:
    """Whether the string stands in `typing.Literal[...]`."""
    return any(
        isinstance(n, cst.Subscript) and (ctx.qualified(n.value) or "").endswith("typing.Literal")
        for n in ctx.stack
    )
