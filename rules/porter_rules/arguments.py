"""Edits of a call's arguments that several rules make."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from porter.rule import Context

_NO_SPACE = cst.AssignEqual(
    whitespace_before=cst.SimpleWhitespace(""), whitespace_after=cst.SimpleWhitespace("")
)


def called(call: cst.Call, ctx: Context) -> tuple[str, int]:
    """Return what a call calls, and the position of the first argument that is meant for it.

    `functools.partial(f, x)` calls `f`, whose arguments start at position 1.
    """
    callee = ctx.callee(call)
    if callee == "functools.partial" and call.args and _is_plain(call.args[0]):
        return ctx.callee(cst.Call(call.args[0].value)), 1
    return callee, 0


def with_callee(call: cst.Call, function: cst.BaseExpression, start: int) -> cst.Call:
    """Return the call, or `functools.partial`, with another function; `start` is `called`'s."""
    if start == 0:
        return call.with_changes(func=function)
    return call.with_changes(args=[call.args[0].with_changes(value=function), *call.args[1:]])


def keyword(arg: cst.Arg, name: str) -> cst.Arg:
    """Return a positional argument as a keyword."""
    return arg.with_changes(keyword=cst.Name(name), equal=_NO_SPACE)


def named(args: Sequence[cst.Arg], names: Sequence[str]) -> list[cst.Arg] | None:
    """Return the arguments with every positional one named.

    None where a star hides some, and where they don't fit: too many, or one that is named as well.
    """
    if any(a.star == "*" for a in args):
        return None
    taken = names[: sum(_is_plain(a) for a in args)]
    keywords = {a.keyword.value for a in args if a.keyword is not None}
    if sum(_is_plain(a) for a in args) > len(taken) or keywords.intersection(taken):
        return None
    return [
        keyword(a, names[i]) if _is_plain(a) else a
        for i, a in enumerate(args)  # without stars the positional ones come first
    ]


def without(args: Sequence[cst.Arg], index: int) -> list[cst.Arg]:
    """Return the arguments less one; a trailing comma stays only where there was one."""
    kept = [*args[:index], *args[index + 1 :]]
    if index == len(args) - 1 and kept:
        kept[-1] = kept[-1].with_changes(comma=args[index].comma)
    return kept


def with_value(call: cst.Call, index: int, value: cst.BaseExpression) -> cst.Call:
    """Return the call with another value for one of its arguments."""
    args = list(call.args)
    args[index] = args[index].with_changes(value=value)
    return call.with_changes(args=args)


def with_keyword(call: cst.Call, name: str, value: cst.BaseExpression) -> cst.Call:
    """Return the call with one more argument, a keyword behind all others."""
    *others, last = call.args
    between = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    if others and isinstance(others[-1].comma, cst.Comma):
        between = others[-1].comma  # each on a line of its own where the others are
    behind = {"comma": last.comma, "whitespace_after_arg": last.whitespace_after_arg}
    added = keyword(cst.Arg(value), name).with_changes(**behind)
    last = last.with_changes(comma=between, whitespace_after_arg=cst.SimpleWhitespace(""))
    return call.with_changes(args=[*others, last, added])


def has_stars(call: cst.Call) -> bool:
    """Whether some arguments are hidden behind `*` or `**`."""
    return any(a.star for a in call.args)


def _is_plain(arg: cst.Arg) -> bool:
    return arg.keyword is None and not arg.star
