"""`torch.device("cuda", ...)`."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, rule
from porter_rules.availability_choice import choice, device_of_choice, has_index
from porter_rules.device_arguments import Use
from porter_rules.device_constructor import is_constructor, resolved
from porter_rules.device_roles import ported
from porter_rules.device_strings import device_string, looks_like_device
from porter_rules.leaving import NPU_HANDLED

_PUT_TOGETHER = (
    "the text of the device is put together in a way that porter doesn't know: write "
    "accel.torch_device(index), which takes an int or its text"
)


@rule(
    "PTR301",
    on=cst.Call,
    rewrites=[
        ('d = torch.device("cuda")', "d = torch.device(accel.device_type)"),
        ("d = torch.device('cuda:0')", "d = accel.torch_device(0)"),
        ('d = torch.device("cuda", rank)', "d = accel.torch_device(rank)"),
        ('d = torch.device("cuda", index=args.gpu)', "d = accel.torch_device(args.gpu)"),
        ('d = torch.device(type="cuda", index=i)', "d = accel.torch_device(i)"),
        ('d = torch.device(index=i, type="cuda")', "d = accel.torch_device(i)"),
        ('d = torch.device(type="cuda")', "d = torch.device(type=accel.device_type)"),
        ('d = torch.device(device="cuda:1")', "d = accel.torch_device(1)"),
        ('d = torch.device(f"cuda:{rank}")', "d = accel.torch_device(rank)"),
        ('d = torch.device("cuda:%d" % rank)', "d = accel.torch_device(rank)"),
        ('d = torch.device("cuda:" + str(rank))', "d = accel.torch_device(rank)"),
        ('d = torch.device("cuda:{}".format(rank))', "d = accel.torch_device(rank)"),
        (
            "import torch as th\nd = th.device('cuda')",
            "import torch as th\nd = th.device(accel.device_type)",
        ),
        (
            'from torch import device\nd = device("cuda", 1)',
            "from torch import device\nd = accel.torch_device(1)",
        ),
        (
            'd = torch.device(f"cuda:{i}" if torch.cuda.is_available() else "cpu")',
            "d = accel.torch_device(i)",
        ),
        (
            'with torch.device("cuda"):\n    m = Net()',
            "with torch.device(accel.device_type):\n    m = Net()",
        ),
        (
            'x = x.to(torch.device(  # here\n    "cuda:1",  # the second\n))',
            "x = x.to(accel.torch_device(  # here\n    1,  # the second\n))",
        ),
    ],
    manual=[
        'd = torch.device("cuda", *rest)',
        'd = torch.device("cuda", **options)',
        'd = torch.device(f"cuda:{a}{b}")',
        'd = torch.device("cuda", "cuda:" + str(i))',
    ],
    valid=[
        'd = torch.device("cpu")',
        'd = torch.device("cpu") if use_cuda else None',
        'd = torch.device(args.device, 0); s = "cuda"',
        'import jax\nd = jax.device("cuda")',
        'def f(torch):\n    return torch.device("cuda")',
    ],
)
def torch_device(original: cst.Call, updated: cst.Call, ctx: Context) -> Outcome:
    """Make `torch.device` of the resolved type instead of "cuda".

    Without an index, `torch.device(accel.device_type)`: the type is a plain str, and the call
    stays what it was. With an index, in whatever spelling, `accel.torch_device(index)`, which
    gives the same torch.device on CUDA, npu:<index> on NPU, and drops the index on the CPU: there
    is only one.

    Not rewritten: starred arguments, of which it isn't known whether they hold an index. Write
    `accel.torch_device(index)` there.
    """
    if not is_constructor(original, ctx) or not original.args:
        return None
    if ctx.within("npu_aware"):
        return NPU_HANDLED if device_string(original.args[0].value, ctx) else None
    if _is_compared(ctx) and device_string(original.args[0].value, ctx) is not None:
        return None  # PTR305 ports the whole comparison, or none of it
    device = _chosen(original, updated, ctx) or resolved(updated, ctx)
    if device is None and looks_like_device(original.args[0].value):
        return Manual(_PUT_TOGETHER)
    if isinstance(device, cst.BaseExpression):
        return ported(device, ctx.role(original), ctx)
    return device


def _is_compared(ctx: Context) -> bool:
    """Whether the current node is one side of `==` or `!=`."""
    match ctx.stack:
        case [*_, cst.Comparison(comparisons=[target])]:
            pass
        case [*_, cst.Comparison(comparisons=[_]), cst.ComparisonTarget() as target]:
            pass
        case _:
            return False
    return isinstance(target.operator, cst.Equal | cst.NotEqual)


def _chosen(original: cst.Call, updated: cst.Call, ctx: Context) -> cst.BaseExpression | None:
    """Return the port of `torch.device(f"cuda:{i}" if torch.cuda.is_available() else "cpu")`."""
    match original.args, updated.args:
        case [cst.Arg(value=cst.IfExp() as old, star="")], [cst.Arg(value=cst.IfExp() as new)]:
            found = choice(old, new, ctx)
            device = device_of_choice(found, Use.DEVICE, ctx) if found is not None else None
            return device if device is not None and has_index(device, ctx) else None
    return None
