"""`torch.device("cuda", ...)`."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, rule
from porter_rules.device_roles import ported
from porter_rules.device_strings import device_string
from porter_rules.leaving import NPU_HANDLED
from porter_rules.nodes import is_runtime


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
    if ctx.qualified(original.func) != "torch.device" or not original.args:
        return None
    if ctx.within("npu_aware"):
        return NPU_HANDLED if device_string(original.args[0].value, ctx) else None
    named = {a.keyword.value: a for a in updated.args if a.keyword is not None}
    kind = named.get("type", named.get("device", updated.args[0]))
    index = named.get("index", updated.args[1] if len(updated.args) > 1 else None)
    role = ctx.role(original)
    if _is_indexed_device(kind.value, ctx) and len(updated.args) == 1:
        return ported(kind.value, role, ctx)  # the choice in it became a torch.device
    found = device_string(kind.value, ctx)
    if found is None:
        return None
    if any(a.star for a in updated.args) or len(updated.args) > 2:
        return Manual(
            "torch.device with starred arguments: whether they hold an index is not known; "
            "write accel.torch_device(index)"
        )
    if index is None and found.index is None:
        args = [kind.with_changes(value=found.as_device(ctx))]
        return ported(updated.with_changes(args=args), role, ctx)
    if index is None:
        only = kind.with_changes(value=found.index)
    else:
        only = index.with_changes(comma=updated.args[-1].comma)
    arg = only.with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)
    return ported(updated.with_changes(func=ctx.runtime("torch_device"), args=[arg]), role, ctx)


def _is_indexed_device(node: cst.BaseExpression, ctx: Context) -> bool:
    return (
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Attribute)
        and node.func.attr.value == "torch_device"
        and is_runtime(node, ctx)
    )
