"""What a device string is for where it stands: a device, text for people, a key, or unknown."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from porter.rule import Context, Outcome, Ported, Role
from porter_rules.device_arguments import (
    FIELDS,
    HELP,
    Use,
    above,
    argument_use,
    by_name,
    call_around,
    has_own_rule,
    is_words,
    keyword_use,
)
from porter_rules.device_names import (
    has_index,
    is_device_expression,
    last_name,
    names_device,
)
from porter_rules.device_places import is_literal_type, is_map_location
from porter_rules.device_strings import device_string, is_other_device
from porter_rules.nodes import (
    alternatives,
    argument,
    branches,
    elements,
    is_runtime,
    string_value,
)

_DISPLAYS = (cst.List, cst.Tuple, cst.Set)

_PICKING = frozenset({"choice", "cycle", "sampled_from"})
"""Functions that give out elements of a list: of random, itertools, hypothesis."""


def use_of(node: cst.CSTNode, ctx: Context) -> Use:
    """Return what a device string is for where it stands."""
    if has_own_rule(ctx.role(node), direct=isinstance(ctx.parent, cst.Arg)):
        return Use.ELSEWHERE
    use = _use(node, ctx)
    is_used = use is not Use.FOREIGN and ctx.role(node).kind != "statement"
    if is_used and _stands_beside_device(node, ctx):
        return Use.DEVICE if use is Use.DEVICE else Use.TEXT
    return use


def ported(node: cst.CSTNode, role: Role, ctx: Context) -> Outcome:
    """Tie a device that outlives the availability tests around it to those tests."""
    while role.kind in ("element", "value") and role.outer is not None:
        role = role.outer
    if ctx.guards and role.kind in ("assign", "return"):
        return Ported(node, ctx.guards)
    return node


def _stands_beside_device(node: cst.CSTNode, ctx: Context) -> bool:
    """Whether another end of a choice is a device: `"cuda" if flag else "cpu"`.

    "cuda" beside a string with an index is one, and makes that one a device as well: all ends of
    a choice get the same answer.
    """
    whole = node
    for parent in reversed(ctx.stack):
        if not any(branch is whole for branch in branches(parent)):
            break
        whole = parent
    others = [end for end in alternatives(whole) if end is not node]
    if has_index(node, ctx) and any(device_string(end, ctx) for end in others):
        return True
    return any(is_device_expression(end, ctx) for end in others)


def _use(node: cst.CSTNode, ctx: Context) -> Use:
    """Judge a node by its role; `ctx.stack` is what lies around it."""
    role = ctx.role(node)
    match role.kind:
        case "assign" if ctx.within("enum") and ctx.within("class_body"):
            return Use.MEMBER
        case "assign" | "default" | "iterate":
            return by_name(role.name)
        case "return":
            return _returned(role, ctx)
        case "keyword":
            return keyword_use(role, ctx)
        case "argument":
            return argument_use(role, ctx)
        case "element":
            return _element(role, ctx)
        case "value":
            return _value(role, ctx)
        case "key" | "index":
            return Use.PART if is_literal_type(ctx) else Use.KEY
        case "compare":
            return Use.ELSEWHERE
        case "pattern":
            return Use.TEXT  # the engine says why a pattern can't be rewritten
        case "formatted" | "statement" | "raise":
            return Use.WORDS
        case "operand":
            return _operand(node, ctx)
        case "receiver" if role.name == "format" and _is_template(ctx):
            return Use.ELSEWHERE
        case "other":
            return _produced(node, ctx)
    return Use.PART


def _is_template(ctx: Context) -> bool:
    """Whether the call of `format` around the string spells a device."""
    call = call_around(ctx)
    return call is not None and device_string(call, ctx) is not None


def _returned(role: Role, ctx: Context) -> Use:
    if any(isinstance(n, cst.Lambda) for n in ctx.stack):
        function, around = above(ctx, cst.Lambda)
        assert function is not None
        outer = around.role(function)
        is_field = outer.kind == "keyword" and last_name(outer.callee) in FIELDS
        return by_name(ctx.fragment_role.name if is_field else outer.name)
    # What a function returns because CUDA is there can hardly be anything but its device.
    return Use.TEXT if "device" in role.name.lower() or ctx.guards else Use.UNKNOWN


def _operand(node: cst.CSTNode, ctx: Context) -> Use:
    """Judge a piece of a sum: words where the whole is words; `["cuda"] * n` is a list."""
    whole = node
    while isinstance(parent := ctx.parent, cst.BinaryOperation) or whole in branches(parent):
        assert parent is not None
        whole, ctx = parent, replace(ctx, stack=ctx.stack[:-1])
    if isinstance(node, _DISPLAYS):
        return _use(whole, ctx)
    if device_string(whole, ctx) is not None:
        return Use.ELSEWHERE
    role = ctx.role(whole)
    words = role.kind in ("formatted", "statement", "raise") or is_words(role, ctx)
    return Use.WORDS if words else Use.PART


def _produced(node: cst.CSTNode, ctx: Context) -> Use:
    """Judge what a comprehension yields by the comprehension."""
    match ctx.parent:
        case cst.ListComp() | cst.SetComp() | cst.GeneratorExp():
            return _listed(ctx.parent, replace(ctx, stack=ctx.stack[:-1]))
        case cst.DictComp(key=key):
            around = replace(ctx, stack=ctx.stack[:-1])
            return Use.KEY if node is key else _in_dict(around.role(ctx.parent))
        case cst.CompFor(target=cst.Name(value=name)):
            return by_name(name)
    return Use.UNKNOWN


def _element(role: Role, ctx: Context) -> Use:
    display, around = above(ctx, *_DISPLAYS)
    if not isinstance(display, _DISPLAYS):
        return _in_dict(role.outer) if role.outer is not None else Use.UNKNOWN
    siblings = elements(display)
    element = ctx.stack[len(around.stack) + 1]
    before = siblings[: next(i for i, e in enumerate(display.elements) if e is element)]
    if any(isinstance(s, cst.Attribute) and is_runtime(s, ctx) for s in siblings):
        return Use.ELSEWHERE  # ported before: ["cuda", "cpu", accel.device_type]
    if role.outer == Role("receiver") and any(is_other_device(s) for s in siblings):
        return Use.TEXT  # ["cpu", "cuda"][torch.cuda.is_available()]
    if _is_pair_of_dict(role):
        return Use.PART
    if any(has_index(s, ctx) for s in siblings):
        return Use.TEXT  # ["cuda", "cuda:1"], be the second one ported before or not
    option = string_value(before[-1]) or "" if before else ""
    if option.startswith("-") and names_device(option):
        return Use.TEXT  # main(["--device", "cuda"])
    return _listed(display, around)


def _is_pair_of_dict(role: Role) -> bool:
    """Whether the element belongs to a pair in `dict([("cuda:0", "cpu")])`."""
    match role.outer:
        case Role(kind="element", outer=Role(kind="argument", callee="builtins.dict")):
            return True
    return False


def _listed(display: cst.CSTNode, ctx: Context) -> Use:
    """Judge the elements of a list by what is done with the list."""
    role = ctx.role(display)
    if role.kind == "argument":
        return _listed_argument(role, ctx)
    use = _use(display, ctx)
    return Use.TEXT if use is Use.DEVICE else use


def _listed_argument(role: Role, ctx: Context) -> Use:
    name = last_name(role.callee)
    if name in ("Choice", "startswith", "endswith"):
        return Use.ELSEWHERE
    if name in _PICKING and role.position == 0:
        call, around = above(ctx, cst.Call)
        use = _use(call, around) if call is not None else Use.UNKNOWN
        return Use.TEXT if use is Use.DEVICE else use
    if name == "parametrize" and role.position == 1:  # pytest
        call = call_around(ctx)
        names = argument(call, None, 0) if call is not None else None
        if names is not None and names_device(string_value(names.value) or ""):
            return Use.TEXT
    return Use.WORDS if is_words(role, ctx) else Use.UNKNOWN


def _value(role: Role, ctx: Context) -> Use:
    outer = role.outer
    if outer is None or has_own_rule(outer, direct=True):
        return Use.ELSEWHERE
    if names_device(role.name):
        return Use.TEXT
    if role.name in HELP:
        return Use.WORDS
    if outer.kind == "receiver":
        shown, _ = above(ctx, cst.Dict)
        others = shown.elements if isinstance(shown, cst.Dict) else ()
        if any(is_other_device(e.value) for e in others):
            return Use.TEXT  # {True: "cuda", False: "cpu"}[torch.cuda.is_available()]
    return _in_dict(outer)


def _in_dict(role: Role) -> Use:
    """Judge the values of a dict, or of a list that isn't seen, by what is done with it."""
    if has_own_rule(role, direct=True):
        return Use.ELSEWHERE
    if is_map_location(role):
        return Use.TEXT
    return by_name(role.name) if role.kind in ("assign", "default", "keyword") else Use.UNKNOWN
