"""Legacy tensor types that are named by strings, and the default tensor type."""

from __future__ import annotations

import re

import libcst as cst

from porter.rule import Context, Manual, Outcome, rule
from porter_rules.leaving import cuda_only
from porter_rules.names import torch_cuda_name
from porter_rules.nodes import is_chain, string_value
from porter_rules.telling import is_telling

_TYPE = re.compile(
    r"torch\.cuda\.((?:BFloat16|Bool|Byte|Char|Double|Float|Half|Int|Long|Short)Tensor)"
)
_BY_HAND = (
    '"torch.cuda.{name}" names a tensor type of CUDA alone: compare dtype and device instead, or '
    "take accel.{name}, which is the class of the accelerator that is there"
)


@rule(
    "PTR111",
    on=(cst.Call, cst.Comparison, cst.SimpleString),
    rewrites=[
        ('y = x.type("torch.cuda.LongTensor")\n', "y = x.type(accel.LongTensor)\n"),
        (
            'y = x.type("torch.cuda.FloatTensor" if use_cuda else "torch.FloatTensor")\n',
            'y = x.type(accel.FloatTensor if use_cuda else "torch.FloatTensor")\n',
        ),
        (
            'ok = t.type() == "torch.cuda.HalfTensor"\n',
            "ok = accel.is_accelerator(t) and isinstance(t, accel.HalfTensor)\n",
        ),
        (
            'assert p.grad.type() == "torch.cuda.FloatTensor"\n',
            "assert accel.is_accelerator(p.grad) and isinstance(p.grad, accel.FloatTensor)\n",
        ),
        (
            'if not t.type() != "torch.cuda.HalfTensor":\n    pass\n',
            "if not not (accel.is_accelerator(t) and isinstance(t, accel.HalfTensor)):\n    pass\n",
        ),
        (
            'n = 1 + (t.type() == "torch.cuda.HalfTensor")\n',
            "n = 1 + (accel.is_accelerator(t) and isinstance(t, accel.HalfTensor))\n",
        ),
    ],
    manual=[
        'import torch\ntorch.set_default_tensor_type("torch.cuda.FloatTensor")\n',
        "import torch\ntorch.set_default_tensor_type(torch.cuda.FloatTensor)\n",
        "import torch\ntorch.set_default_tensor_type("
        "torch.cuda.FloatTensor if cuda else torch.FloatTensor)\n",
        'dtype = "torch.cuda.FloatTensor"\n',
        'ok = f(x).type() == "torch.cuda.HalfTensor"\n',
        'ok = f(x).grad.type() == "torch.cuda.HalfTensor"\n',
        'ok = t.type() in ("torch.cuda.HalfTensor", "torch.HalfTensor")\n',
        'ok = torch.cuda.nvtx.mark.type() == "torch.cuda.HalfTensor"\n',
        'ok = t.type().startswith("torch.cuda")\n',
        'ok = "torch.cuda" in t.type()\n',
        'ok = str(t.type()).startswith("torch.cuda.")\n',
    ],
    valid=[
        'import torch\ntorch.set_default_tensor_type("torch.FloatTensor")\n',
        'print("torch.cuda.FloatTensor")\n',
        'y = x.type("torch.LongTensor")\n',
        'ok = name.startswith("torch.cuda")\n',
    ],
)
def tensor_type_strings(
    original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context
) -> Outcome:
    """Port CUDA's legacy tensor types where a string names them.

    `x.type("torch.cuda.LongTensor")` becomes `x.type(accel.LongTensor)`: the same class on CUDA.
    `t.type() == "torch.cuda.HalfTensor"` becomes a test of the device and the type.
    `torch.set_default_tensor_type` with a CUDA type is left: torch registers no such type for
    other accelerators; set the default dtype and the default device instead. A type's name that
    is kept in a variable or a list is left too.
    """
    match original:
        case cst.Call():
            return _default_type(original, ctx)
        case cst.Comparison(comparisons=[cst.ComparisonTarget(operator, right)]):
            assert isinstance(updated, cst.Comparison)
            return _comparison(updated.left, operator, right, ctx)
        case cst.SimpleString():
            return _string(original, ctx)
    return None


def _default_type(call: cst.Call, ctx: Context) -> Outcome:
    if ctx.callee(call) != "torch.set_default_tensor_type":
        return None
    if "cuda" not in cst.Module([]).code_for_node(call):
        return None
    return cuda_only(
        "only CPU and CUDA types can be the default tensor type: call torch.set_default_dtype(...) "
        "and torch.set_default_device(accel.device_type)",
        ctx,
    )


def _comparison(
    left: cst.BaseExpression,
    operator: cst.BaseCompOp,
    right: cst.BaseExpression,
    ctx: Context,
) -> Outcome:
    name = _type_name(right)
    match left:
        case cst.Call(func=cst.Attribute(value=tensor, attr=cst.Name("type")), args=[]) if (
            name is not None and is_chain(tensor) and torch_cuda_name(tensor, ctx) is None
        ):
            test = cst.BooleanOperation(
                ctx.runtime_call("is_accelerator", tensor),
                cst.And(),
                cst.Call(
                    cst.Name("isinstance"),
                    [cst.Arg(tensor.deep_clone()), cst.Arg(ctx.runtime(name))],
                ),
            )
            match operator:
                case cst.Equal():
                    return test
                case cst.NotEqual():
                    parts = {"lpar": [cst.LeftParen()], "rpar": [cst.RightParen()]}
                    return cst.UnaryOperation(cst.Not(), test.with_changes(**parts))
    return None


def _string(original: cst.SimpleString, ctx: Context) -> Outcome:
    name = _type_name(original)
    if name is None:
        return _start_of_a_name(original, ctx)
    role = ctx.role(original)
    called = role.callee.rpartition(".")[2]
    if role.kind == "argument" and called == "type" and role.position == 0:
        return ctx.runtime(name)
    if role.kind == "statement" or is_telling(role.callee):
        return None
    return Manual(_BY_HAND.format(name=name), groups=ctx.guards)


def _start_of_a_name(original: cst.SimpleString, ctx: Context) -> Outcome:
    """Answer for `t.type().startswith("torch.cuda")` and `"torch.cuda" in t.type()`."""
    if (string_value(original) or "").rstrip(".") != "torch.cuda":
        return None
    if not any(_asks_for_type(node) for node in ctx.stack):
        return None
    return Manual(
        "looks for torch.cuda in the name of a tensor's type, which has other words on other "
        "devices: ask accel.is_accelerator(...) of the tensor",
        groups=ctx.guards,
    )


def _asks_for_type(node: cst.CSTNode) -> bool:
    """Whether the text of `t.type()` is looked through here."""
    match node:
        case cst.Call(func=cst.Attribute(value=text, attr=cst.Name("startswith" | "find"))):
            pass
        case cst.Comparison(comparisons=[cst.ComparisonTarget(cst.In() | cst.NotIn(), text)]):
            pass
        case _:
            return False
    if isinstance(text, cst.Call) and isinstance(text.func, cst.Name) and text.args:
        text = text.args[0].value  # str(t.type())
    match text:
        case cst.Call(func=cst.Attribute(attr=cst.Name("type")), args=[]):
            return True
    return False


def _type_name(node: cst.CSTNode) -> str | None:
    found = _TYPE.fullmatch(string_value(node) or "")
    return found.group(1) if found else None
