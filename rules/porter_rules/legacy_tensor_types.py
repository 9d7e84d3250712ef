"""The legacy types `torch.cuda.FloatTensor` and its kin."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, Role, rule
from porter_rules.leaving import NPU_HANDLED
from porter_rules.names import LEGACY_TYPES, torch_cuda_name
from porter_rules.nodes import elements, is_chain, is_runtime

_COMPARED = (
    "tells CUDA's type from the CPU's, and without an accelerator the shim's is the CPU's: compare "
    "`x.dtype`, and ask `accel.is_accelerator(x)`"
)
_CHECKED = (
    "asks for one of torch.cuda's legacy types among others, and without an accelerator the shim's "
    "are the CPU's: ask `accel.is_accelerator(x)` and `x.dtype`"
)


@rule(
    "PTR110",
    on=(cst.Attribute, cst.Call),
    rewrites=[
        (
            "import torch\nx = torch.cuda.FloatTensor(3, 4)",
            "import torch\nx = accel.FloatTensor(3, 4)",
        ),
        ("y = x.type(torch.cuda.LongTensor)", "y = x.type(accel.LongTensor)"),
        (
            "T = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor",
            "T = accel.FloatTensor if accel.is_available() else torch.FloatTensor",
        ),
        ("x: torch.cuda.FloatTensor", "x: accel.FloatTensor"),
        (
            "ok = isinstance(x, torch.cuda.FloatTensor)",
            "ok = isinstance(x, accel.FloatTensor) and accel.is_accelerator(x)",
        ),
        (
            "if not isinstance(x, torch.cuda.HalfTensor):\n    pass",
            "if not (isinstance(x, accel.HalfTensor) and accel.is_accelerator(x)):\n    pass",
        ),
        (
            "ok = isinstance(p.data, (torch.cuda.FloatTensor, torch.cuda.HalfTensor))",
            "ok = isinstance(p.data, (accel.FloatTensor, accel.HalfTensor)) and "
            "accel.is_accelerator(p.data)",
        ),
        (
            "ok = isinstance(x, (torch.FloatTensor, torch.cuda.FloatTensor))",
            "ok = isinstance(x, (torch.FloatTensor, accel.FloatTensor))",
        ),
    ],
    manual=[
        "ok = type(x) is torch.cuda.FloatTensor",
        "if t in (torch.cuda.FloatTensor, torch.cuda.HalfTensor):\n    pass",
        "table = {torch.cuda.FloatTensor: f, torch.FloatTensor: g}",
        "ok = isinstance(f(x), torch.cuda.FloatTensor)",
        "ok = isinstance(x, (list, torch.cuda.FloatTensor))",
        "ok = isinstance(x, (torch.cuda.HalfTensor, torch.cuda  # old\n.FloatTensor))",
    ],
    valid=[
        "x = torch.FloatTensor(3)",
        "isinstance(x, torch.Tensor)",
        "torch.cuda.sparse.FloatTensor(i, v)",
    ],
)
def legacy_tensor_types(
    original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context
) -> Outcome:
    """Take the legacy tensor types of torch.cuda from the shim.

    `torch.cuda.FloatTensor` becomes `accel.FloatTensor`: the same class on CUDA, torch_npu's on
    an NPU, torch.FloatTensor without an accelerator. As a constructor, an argument of `.type`, an
    annotation it needs nothing else.

    `isinstance(x, torch.cuda.FloatTensor)` also asks where x lies, which the CPU's class does not
    answer: `accel.is_accelerator(x)` is added. Comparisons of types, keys of a dict and tuples
    that mix types are left: ask for `x.dtype` and `accel.is_accelerator(x)` there.
    """
    if isinstance(original, cst.Call):
        return _isinstance(original, updated, ctx)
    name = torch_cuda_name(original, ctx)
    if name not in LEGACY_TYPES:
        return None
    if ctx.within("npu_aware"):
        return NPU_HANDLED
    if _tells_types_apart(ctx.role(original)):
        return Manual(f"torch.cuda.{name} {_COMPARED}")
    return ctx.runtime(name)


def _tells_types_apart(role: Role) -> bool:
    if role.kind == "element":
        return role.outer is not None and _tells_types_apart(role.outer)
    return role.kind in ("compare", "key", "pattern")


def _isinstance(original: cst.Call, updated: cst.CSTNode, ctx: Context) -> Outcome:
    if ctx.callee(original) != "builtins.isinstance" or len(original.args) != 2:
        return None
    types = _types(original)
    ours = {name for t in types if (name := torch_cuda_name(t, ctx)) in LEGACY_TYPES}
    others = [ctx.qualified(t) for t in types if torch_cuda_name(t, ctx) not in LEGACY_TYPES]
    if not ours or ours <= {(q or "").removeprefix("torch.") for q in others}:
        return None  # the CPU's own types are asked for as well
    if ctx.within("npu_aware"):
        return NPU_HANDLED
    assert isinstance(updated, cst.Call)
    instance = updated.args[0].value
    if not all(is_runtime(t, ctx) for t in _types(updated)) or not is_chain(instance):
        return Manual(_CHECKED)
    lies_there = ctx.runtime_call("is_accelerator", instance.with_changes(lpar=[], rpar=[]))
    return cst.BooleanOperation(updated, cst.And(), lies_there)


def _types(call: cst.Call) -> list[cst.BaseExpression]:
    kinds = call.args[1].value
    return elements(kinds) if isinstance(kinds, cst.Tuple) else [kinds]
