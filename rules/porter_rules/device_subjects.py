"""What a comparison with "cuda" is about: the device under `.type`, `str()`, `.lower()`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import libcst as cst

from porter.rule import Context
from porter_rules.device_names import is_device_expression, names_device
from porter_rules.device_strings import gives_text

_OWNERS = re.compile(
    r"self|cls|FLAGS|C|model|net|module|pipe|pipeline|accelerator|trainer|state|engine|runner|env|ctx"
    r"|.*(?:args|argv|opts?|options|params|config|configs|cfg|conf|hparams|settings|flags|model)"
)
"""Names of what has a device without being a tensor: `self.device` is asked, not `self`."""


@dataclass(frozen=True)
class Subject:
    """One side of a comparison.

    `whole` is the side itself, `device` what is asked for its type, `known` whether it is sure
    that this is a device, `typed` whether the side is but a type, which has no index.
    """

    whole: cst.BaseExpression
    device: cst.BaseExpression
    known: bool
    typed: bool = False


def subject(original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context) -> Subject:
    """Return what one side of a comparison asks for; built from `updated`.

    A text that no rule has ported where it stood is nothing that can be asked.
    """
    found = _subject(original, updated, ctx)
    return replace(found, known=False) if gives_text(found.device, ctx) else found


def _subject(original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context) -> Subject:
    match original, updated:
        case (
            cst.Call(args=[cst.Arg(value=inner)]),
            cst.Call(args=[cst.Arg(value=new)]),
        ) if ctx.qualified(original.func) == "builtins.str":
            found = subject(inner, new, ctx)
            return Subject(updated, found.device, found.known, found.typed)
        case (
            cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value=method))),
            cst.Call(func=cst.Attribute(value=new)),
        ) if method in ("lower", "strip", "casefold"):
            found = subject(inner, new, ctx)
            return Subject(updated, updated, found.known, found.typed)
        case (
            cst.Attribute(value=inner, attr=cst.Name(value="type")),
            cst.Attribute(value=new),
        ):
            short = isinstance(inner, cst.Name) and inner.value == "d"
            known = short or is_one_device(inner, ctx)
            return Subject(updated, _owner_of(new, ctx), known, typed=True)
        case ((cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name))), _):
            known = is_one_device(original, ctx)
            return Subject(updated, updated, known, typed=name.lower().endswith("type"))
        case _ if _is_first_part(original):
            return Subject(updated, updated, known=True, typed=True)
    return Subject(updated, updated, is_one_device(original, ctx))


def is_one_device(node: cst.BaseExpression, ctx: Context) -> bool:
    """Whether the expression is a device; `"cuda" in devices` asks a list."""
    match node:
        case cst.Subscript(
            value=cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)),
            slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer()))],
        ):
            return names_device(name)
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)) if name.endswith("s"):
            return False
    return is_device_expression(node, ctx)


def is_simple(node: cst.BaseExpression) -> bool:
    """Whether the expression may be evaluated twice: a name, an attribute, `str()` of one."""
    match node:
        case cst.Name():
            return True
        case cst.Attribute(value=value):
            return is_simple(value)
        case cst.Call(func=cst.Name(value="str"), args=[cst.Arg(value=value)]):
            return is_simple(value)
        case cst.Call(
            func=cst.Attribute(value=value, attr=cst.Name(value="lower" | "strip" | "casefold")),
            args=[],
        ):
            return is_simple(value)
        case cst.Subscript(
            value=value,
            slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() | cst.Integer()))],
        ):
            return is_simple(value)
    return False


def _owner_of(node: cst.BaseExpression, ctx: Context) -> cst.BaseExpression:
    """Return the tensor that `t.device` belongs to, else the node."""
    match node:
        case cst.Attribute(value=cst.Name() as owner, attr=cst.Name(value="device")):
            named = _OWNERS.fullmatch(owner.value) or ctx.qualified(owner)
            return node if named else owner
    return node


def _is_first_part(node: cst.BaseExpression) -> bool:
    """Whether the expression is `d.split(":")[0]`, which only a device string has."""
    match node:
        case cst.Subscript(
            value=cst.Call(
                func=cst.Attribute(attr=cst.Name(value="split")),
                args=[cst.Arg(value=cst.SimpleString(value='":"' | "':'"))],
            ),
            slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value="0")))],
        ):
            return True
    return False
