"""Number formats and memory layouts that not every accelerator has."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Note, Outcome, rule
from porter_rules.nodes import argument, string_value

_DOUBLE = ("torch.float64", "torch.double")
_WHY_DOUBLE = (
    "float64 is kept: an Ascend NPU runs it slowly and lacks some operators for it, so use "
    "float32 there if the result allows"
)


@rule(
    "PTR607",
    on=(cst.Call, cst.Attribute),
    needs=(),
    manual=[
        "import torch\nmodel.to(memory_format=torch.channels_last)  # CUDA\n",
        "import torch\nx = x.contiguous(memory_format=torch.channels_last_3d)  # CUDA\n",
    ],
    valid=[
        "import torch\nx = x.double()  # not on CUDA\n",
        "import torch\nx = x.cuda().float()\n",
        "import torch\nx = torch.zeros(3, dtype=torch.float64, device='cpu')  # CUDA\n",
        "data_format = 'channels_last'  # CUDA\n",
    ],
)
def precision(original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context) -> Outcome:
    """Note float64 on a device, and point out channels_last.

    float64 next to a move to the device (`x.double().cuda()`, `dtype=torch.float64` beside
    `device="cuda"`) is kept and noted: a silent float32 would change results. `channels_last` is
    left, as CUDA and CPU gain speed from it, but an Ascend NPU works on contiguous tensors:
    choose the memory format by `accel.device_type`.
    """
    if isinstance(original, cst.Attribute):
        qualified = ctx.qualified(original) or ""
        if qualified not in ("torch.channels_last", "torch.channels_last_3d"):
            return None
        return Manual(
            f"{qualified} is a memory format that an Ascend NPU doesn't take: use "
            'torch.contiguous_format where accel.device_type is "npu"'
        )
    if isinstance(original, cst.Call) and (
        _moves_double(original, ctx) or _makes_double(original, ctx)
    ):
        return Note(_WHY_DOUBLE)
    return None


def _moves_double(call: cst.Call, ctx: Context) -> bool:
    """Whether this is the `.double()` of `x.double().cuda()` or of `x.cuda().double()`."""
    if not isinstance(call.func, cst.Attribute) or call.func.attr.value != "double" or call.args:
        return False
    before = call.func.value
    if isinstance(before, cst.Call) and _is_move(before):
        return True
    return (
        len(ctx.stack) >= 2
        and isinstance(ctx.stack[-1], cst.Attribute)
        and isinstance(ctx.stack[-2], cst.Call)
        and _is_move(ctx.stack[-2])
    )


def _is_move(call: cst.Call) -> bool:
    match call.func:
        case cst.Attribute(attr=cst.Name("cuda")):
            return True
        case cst.Attribute(attr=cst.Name("to")):
            return _names_cuda(argument(call, "device", 0))
    return False


def _makes_double(call: cst.Call, ctx: Context) -> bool:
    """Whether a call has both a float64 dtype and CUDA as its device, or is a legacy type's."""
    if ctx.callee(call) == "torch.cuda.DoubleTensor":
        return True
    if not any(ctx.qualified(a.value) in _DOUBLE for a in call.args):
        return False
    return _names_cuda(argument(call, "device", None)) or _names_cuda(argument(call, None, 0))


def _names_cuda(arg: cst.Arg | None) -> bool:
    if arg is None:
        return False
    text = string_value(arg.value) or cst.Module([]).code_for_node(arg.value)
    return "cuda" in text
