"""`device == "cuda" and not torch.cuda.is_available()`: two tests that have to agree."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from porter.rule import Context, Manual, Outcome, rule
from porter_rules.device_equality import compared, starts_with
from porter_rules.leaving import REFUSES_CUDA
from porter_rules.names import is_call

_UNKNOWN = (
    'torch.cuda.is_available() is joined to a comparison with "cuda" of which it is not known '
    "whether it is about a device: both are left; write accel.is_accelerator(...) and "
    "accel.is_available() where it is"
)


@rule(
    "PTR310",
    on=(cst.BooleanOperation, cst.Call),
    manual=[
        'ok = backend == "cuda" and torch.cuda.is_available()',
        'if torch.cuda.is_available() and name == "cuda":\n    x = "cuda"',
        'if device == "cuda" and not torch.cuda.is_available():\n    raise SystemExit("no cuda")',
        'if not torch.cuda.is_available() and device.type == "cuda":\n    device = "cpu"',
        'if device.type == torch.device("cuda").type and not torch.cuda.is_available():\n    f()',
        'if "cuda" in args.device and not torch.cuda.is_available(): ...',
        'ok = device != "cuda" or torch.cuda.is_available()',
        'assert not str(device).startswith("cuda") or torch.cuda.is_available()',
        'if device == "cuda":\n    if not torch.cuda.is_available():\n        device = "cpu"',
        'if device.type == "cuda":\n    assert torch.cuda.is_available(), "no GPU"',
        'if not torch.cuda.is_available():\n    if "cuda" in device:\n        device = "cpu"',
    ],
    valid=[
        'ok = device.type == "cuda" and torch.cuda.is_available()',
        'ok = fast and device == "cuda"',
        "ok = torch.cuda.is_available() and not args.no_cuda",
    ],
)
def joined_availability(
    original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context
) -> Outcome:
    """Leave an availability test together with the comparison that it is joined to.

    Two such pairs are left. Where it isn't known whether the comparison is about a device, half
    of the test can't be ported, and the other half alone would mean something else on an NPU.
    And a test for a CUDA device where CUDA is not available refuses what the user asked for:
    ported, both halves could never hold together, and the refusal would be lost on every machine.
    As it stands it is right on CUDA, on an NPU and on the CPU. So are the two as statements of
    their own, one right under the other.
    """
    own_group = () if ctx.guard is None else (ctx.guard,)
    if isinstance(original, cst.Call):
        refuses = ctx.within("refuses_cuda") and is_call(original, "is_available", ctx)
        return Manual(REFUSES_CUDA, groups=own_group) if refuses else None
    assert isinstance(original, cst.BooleanOperation)
    joins_and = isinstance(original.operator, cst.And)
    unknown = refused = asked = joined = False
    for term, positive, direct in _terms(original, joins_and):
        if is_call(term, "is_available", ctx):
            joined = True
            refused |= direct and positive is not joins_and
            continue
        outcome = _ported(term, ctx)
        unknown |= isinstance(outcome, Manual)
        asked |= direct and isinstance(outcome, cst.CSTNode) and positive is joins_and
    if not joined:
        return None
    if unknown:
        return Manual(_UNKNOWN, groups=own_group)
    return Manual(REFUSES_CUDA) if asked and refused else None


def _terms(
    node: cst.BaseExpression, joins_and: bool, positive: bool = True, direct: bool = True
) -> Iterator[tuple[cst.BaseExpression, bool, bool]]:
    """Yield what is joined, whether it is asked for or its negation, and whether directly."""
    match node:
        case cst.BooleanOperation(left=left, operator=operator, right=right):
            direct = direct and positive and isinstance(operator, cst.And) is joins_and
            yield from _terms(left, joins_and, positive, direct)
            yield from _terms(right, joins_and, positive, direct)
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            yield from _terms(inner, joins_and, not positive, direct)
        case cst.Comparison(comparisons=[cst.ComparisonTarget(operator=operator)]):
            negative = isinstance(operator, cst.NotEqual | cst.NotIn)
            yield node, positive is not negative, direct
        case _:
            yield node, positive, direct


def _ported(term: cst.BaseExpression, ctx: Context) -> Outcome:
    match term:
        case cst.Comparison():
            return compared(term, term, ctx)
        case cst.Call():
            return starts_with(term, term, ctx)
    return None
