"""`.cuda` handed on as a value."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, Role, rule
from porter_rules.names import torch_cuda_name
from porter_rules.receivers import is_settings, own_library

_WHY = (
    "the method .cuda is handed on without being called, so that what it will be called on and "
    "with is not known here: hand on `lambda x: x.to(accel.device_type)` instead"
)


@rule(
    "PTR102",
    on=cst.Attribute,
    manual=[
        "xs = list(map(torch.Tensor.cuda, xs))",
        "apply_to(batch, t.cuda)",
        "move = net.cuda",
        "model.apply(torch.nn.Module.cuda)",
        "hooks = [self.net.cuda, print]",
        "table = {'move': x.cuda}",
        "def mover(x):\n    return x.cuda",
        "run(fn=batch.cuda)",
        "move = x.cuda if use_cuda else x.cpu",
    ],
    valid=[
        "x.cuda()",
        "if args.cuda:\n    pass",
        "train(cuda=opt.cuda)",
        "self.cuda = cuda",
        "use_cuda = self.cuda",
        "x = x if not cfg.train.cuda else y",
        "cfg.cuda.visible = '0'",
        "if trainer.cuda and n > 1:\n    pass",
        "f(torch.version.cuda)",
        "from numba import cuda\nf(cuda)",
        "import cupy\nf(cupy.cuda)",
    ],
)
def bound_cuda_method(original: cst.Attribute, updated: cst.Attribute, ctx: Context) -> Outcome:
    """Report `.cuda` that is passed as a function.

    `map(torch.Tensor.cuda, xs)` or `apply_to(batch, t.cuda)` will call `.cuda` somewhere else,
    with arguments that can't be seen here. Hand on a function that moves to `accel.device_type`.

    A flag of that name (`args.cuda`, `self.cuda`, or whatever is tested in a condition) is not
    what is meant, and stays silent.
    """
    if original.attr.value != "cuda" or torch_cuda_name(original, ctx) is not None:
        return None
    match ctx.parent:
        case cst.Attribute():
            return None
        case cst.Call(func=func) if func is original:
            return None
    qualified = ctx.qualified(original.value)
    if is_settings(original.value) or own_library(original.value, ctx) or qualified == "torch":
        return None
    if qualified in ("torch.version", "torch.backends", "torch._C"):
        return None
    return Manual(_WHY) if _is_value(ctx.role(original)) else None


def _is_value(role: Role) -> bool:
    if role.kind == "element":
        return role.outer is not None and _is_value(role.outer)
    return role.kind in ("argument", "keyword", "assign", "return", "value", "statement")
