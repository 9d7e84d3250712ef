"""The forms in which the port asks whether something is on the accelerator."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Outcome
from porter_rules.device_subjects import Subject
from porter_rules.nodes import elements, string_value


def is_accelerator(found: Subject, ctx: Context) -> cst.Call:
    """Return `accel.is_accelerator(d)`."""
    return ctx.runtime_call("is_accelerator", found.device.with_changes(lpar=[], rpar=[]))


def parenthesised(node: cst.BooleanOperation) -> cst.BooleanOperation:
    """Return the operation in parentheses."""
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def negated(outcome: Outcome) -> Outcome:
    """Return `not ...` for a rewritten test, and what isn't rewritten as it is."""
    if isinstance(outcome, cst.BooleanOperation):
        outcome = parenthesised(outcome)
    if not isinstance(outcome, cst.BaseExpression):
        return outcome
    return cst.UnaryOperation(cst.Not(), outcome)


def only_as(found: Subject, constant: cst.BaseExpression, ctx: Context) -> cst.BooleanOperation:
    """Return `accel.is_accelerator(d) and d == <constant>`: on the CPU nothing is a CUDA device."""
    whole = found.whole.deep_clone()
    equal = cst.Comparison(whole, [cst.ComparisonTarget(cst.Equal(), constant)])
    return cst.BooleanOperation(is_accelerator(found, ctx), cst.And(), equal)


def or_other(found: Subject, updated: cst.Comparison, ctx: Context) -> cst.BooleanOperation:
    """Return `accel.is_accelerator(d) or d in (<the list without "cuda">)`."""
    display = updated.comparisons[0].comparator
    others = [e for e in elements(display) if string_value(e) != "cuda"]
    if len(others) == 1:
        target = cst.ComparisonTarget(cst.Equal(), others[0])
    else:
        assert isinstance(display, cst.List | cst.Tuple | cst.Set)
        kept = [e for e in display.elements if string_value(e.value) != "cuda"]
        kept[-1] = kept[-1].with_changes(comma=display.elements[-1].comma)
        target = cst.ComparisonTarget(cst.In(), display.with_changes(elements=kept))
    rest = cst.Comparison(found.whole.deep_clone(), [target])
    asked: cst.BaseExpression = is_accelerator(found, ctx)
    if not found.typed:
        both = only_as(found, ctx.runtime("device_type"), ctx)
        asked = parenthesised(both)
    return cst.BooleanOperation(asked, cst.Or(), rest)


def in_known_devices(updated: cst.Comparison, ctx: Context) -> cst.Comparison:
    """Return `d in ("cuda", "cpu", accel.device_type)`."""
    target = updated.comparisons[0]
    known = with_device_type(target.comparator, ctx)
    return updated.with_changes(comparisons=[target.with_changes(comparator=known)])


def with_device_type(display: cst.BaseExpression, ctx: Context) -> cst.BaseExpression:
    """Return a list, tuple or set with `accel.device_type` behind its elements.

    Over several lines it gets a line of its own; a comment behind the last element stays there.
    """
    assert isinstance(display, cst.List | cst.Tuple | cst.Set)
    *rest, last = display.elements
    added = cst.Element(ctx.runtime("device_type"), comma=last.comma)
    before = rest[-1].comma if rest else None
    line_break = before.whitespace_after if isinstance(before, cst.Comma) else None
    if not isinstance(line_break, cst.ParenthesizedWhitespace):
        space = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        return display.with_changes(elements=[*rest, last.with_changes(comma=space), added])
    display, comment = _without_comment(display)
    line_break = line_break.with_changes(first_line=comment, empty_lines=[])
    last = last.with_changes(comma=cst.Comma(whitespace_after=line_break))
    return display.with_changes(elements=[*rest, last, added])


def _without_comment(
    display: cst.List | cst.Tuple | cst.Set,
) -> tuple[cst.List | cst.Tuple | cst.Set, cst.TrailingWhitespace]:
    """Take the end of the last element's line, with its comment, out of the closing bracket."""
    field = {cst.List: "rbracket", cst.Set: "rbrace"}.get(type(display), "rpar")
    bracket = getattr(display, field)
    closing = bracket[0] if isinstance(display, cst.Tuple) and bracket else bracket
    space = getattr(closing, "whitespace_before", None)
    if not isinstance(space, cst.ParenthesizedWhitespace):
        return display, cst.TrailingWhitespace()
    kept = space.with_changes(first_line=cst.TrailingWhitespace())
    closing = closing.with_changes(whitespace_before=kept)
    changed = [closing, *bracket[1:]] if isinstance(display, cst.Tuple) else closing
    return display.with_changes(**{field: changed}), space.first_line
