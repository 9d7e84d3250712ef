"""`torch.cuda.device_count()` asked whether there is a device at all."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, Together, rule
from porter_rules.leaving import NPU_HANDLED
from porter_rules.names import torch_cuda_name

_HOLDS_WITH_DEVICES: dict[tuple[type[cst.BaseCompOp], str], bool] = {
    (cst.Equal, "0"): False,
    (cst.LessThan, "1"): False,
    (cst.LessThanEqual, "0"): False,
    (cst.GreaterThan, "0"): True,
    (cst.GreaterThanEqual, "1"): True,
    (cst.NotEqual, "0"): True,
}
"""Comparisons of a count that only ask for zero, and what they are where there are devices."""

_MIRROR_IMAGE: dict[type[cst.BaseCompOp], type[cst.BaseCompOp]] = {
    cst.LessThan: cst.GreaterThan,
    cst.LessThanEqual: cst.GreaterThanEqual,
    cst.GreaterThan: cst.LessThan,
    cst.GreaterThanEqual: cst.LessThanEqual,
    cst.Equal: cst.Equal,
    cst.NotEqual: cst.NotEqual,
}
"""The operator with which `0 < n` reads `n > 0`."""

_CHAINED = (
    "this chain asks both whether there is a device and how many, and without an accelerator the "
    "shim counts one device, the CPU: ask `accel.is_available()` first, then compare the count"
)


@rule(
    "PTR204",
    on=(cst.Comparison, cst.Call),
    rewrites=[
        ("if torch.cuda.device_count() == 0:\n    pass", "if not accel.is_available():\n    pass"),
        ("if torch.cuda.device_count() > 0:\n    pass", "if accel.is_available():\n    pass"),
        ("ok = torch.cuda.device_count() >= 1", "ok = accel.is_available()"),
        ("ok = torch.cuda.device_count() != 0", "ok = accel.is_available()"),
        ("ok = torch.cuda.device_count() < 1", "ok = not accel.is_available()"),
        ("ok = 0 < torch.cuda.device_count()", "ok = accel.is_available()"),
        ("ok = 0 == torch.cuda.device_count()", "ok = not accel.is_available()"),
        (
            "assert torch.cuda.device_count() > 0, 'needs a GPU'",
            "assert accel.is_available(), 'needs a GPU'",
        ),
        ("if torch.cuda.device_count():\n    pass", "if accel.is_available():\n    pass"),
        ("if not torch.cuda.device_count():\n    pass", "if not accel.is_available():\n    pass"),
        ("ok = bool(torch.cuda.device_count())", "ok = bool(accel.is_available())"),
        (
            "dev = 'gpu' if torch.cuda.device_count() else 'none'",
            "dev = 'gpu' if accel.is_available() else 'none'",
        ),
        (
            "while flag and torch.cuda.device_count() > 0:\n    pass",
            "while flag and accel.is_available():\n    pass",
        ),
        (
            "if torch.cuda.is_available() and torch.cuda.device_count() > 0:\n    pass",
            "if accel.is_available() and accel.is_available():\n    pass",
        ),
        (
            "ok = (torch.cuda.device_count() == 0) == flag",
            "ok = (not accel.is_available()) == flag",
        ),
        (
            "from torch.cuda import device_count\nif device_count() == 0:\n    pass",
            "from porter_runtime import device_count\nif not accel.is_available():\n    pass",
        ),
        (
            "@pytest.mark.skipif(torch.cuda.device_count() == 0, reason='no GPU')\ndef test(): ...",
            "@pytest.mark.skipif(not accel.is_available(), reason='no GPU')\ndef test(): ...",
        ),
    ],
    manual=[
        "ok = 0 < torch.cuda.device_count() <= 8",
    ],
    valid=[
        "if torch.cuda.device_count() > 1:\n    pass",
        "if torch.cuda.device_count() == 1:\n    pass",
        "ok = n < torch.cuda.device_count()",
        "n = torch.cuda.device_count() or 1",
        "n = min(torch.cuda.device_count(), 4)",
        "mp.spawn(main, nprocs=torch.cuda.device_count())",
        "if torch.npu.device_count() == 0:\n    pass",
    ],
)
def device_count_test(
    original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context
) -> Outcome:
    """Ask whether there is an accelerator where a count of devices only asked for zero.

    `device_count() == 0`, `> 0`, `>= 1` or its truth in a condition become `is_available()`:
    without an accelerator the shim counts one device, the CPU, so that `nprocs=device_count()`
    and `rank % device_count()` hold there.

    On CUDA the two say the same. Without an accelerator a script that refuses to run because
    there is no device still refuses.

    Every other use of the count stays a count (PTR201). A chain such as `0 < count <= 8` is left.
    """
    if isinstance(original, cst.Call):
        if not _is_count(original, ctx) or not _is_truth_value(original, ctx):
            return None
        available = True
    else:
        assert isinstance(original, cst.Comparison)
        if len(original.comparisons) > 1:
            chained = _compares_count(original, ctx) and _mentions_zero(original)
            return Manual(_CHAINED) if chained else None
        answer = _asks_for_zero(original, ctx)
        if answer is None:
            return None
        available = answer
    if ctx.within("npu_aware"):
        return NPU_HANDLED
    node: cst.BaseExpression = ctx.runtime_call("is_available")
    if not available:
        node = cst.UnaryOperation(cst.Not(), node)
    return Together(node, (ctx.guard,)) if ctx.guard is not None else node


def _is_count(node: cst.CSTNode, ctx: Context) -> bool:
    return isinstance(node, cst.Call) and torch_cuda_name(node.func, ctx) == "device_count"


def _is_truth_value(node: cst.Call, ctx: Context) -> bool:
    role = ctx.role(node)
    return role.kind == "test" or (role.kind == "argument" and role.callee == "builtins.bool")


def _asks_for_zero(node: cst.Comparison, ctx: Context) -> bool | None:
    """Return what the comparison says where there are devices, None if it asks something else."""
    left, right = node.left, node.comparisons[0].comparator
    kind: type[cst.BaseCompOp] = type(node.comparisons[0].operator)
    if _is_count(right, ctx):
        left, right, kind = right, left, _MIRROR_IMAGE.get(kind, kind)
    if not _is_count(left, ctx) or not isinstance(right, cst.Integer):
        return None
    return _HOLDS_WITH_DEVICES.get((kind, right.value))


def _operands(node: cst.Comparison) -> list[cst.BaseExpression]:
    return [node.left, *(c.comparator for c in node.comparisons)]


def _compares_count(node: cst.Comparison, ctx: Context) -> bool:
    return any(_is_count(operand, ctx) for operand in _operands(node))


def _mentions_zero(node: cst.Comparison) -> bool:
    return any(isinstance(o, cst.Integer) and o.value in ("0", "1") for o in _operands(node))
