"""`torch.cuda.device_count()` where 0 would fail."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from porter.rule import Context, Outcome, rule
from porter_rules.leaving import NPU_HANDLED
from porter_rules.names import torch_cuda_name

_PROCESSES = frozenset({"nprocs", "world_size"})


@rule(
    "PTR204",
    on=cst.Call,
    needs=("device_count",),
    rewrites=[
        (
            "torch.cuda.set_device(rank % torch.cuda.device_count())",
            "accel.set_device(rank % max(1, accel.device_count()))",
        ),
        ("a = b // torch.cuda.device_count()", "a = b // max(1, accel.device_count())"),
        (
            "share = n / torch.cuda.device_count()",
            "share = n / max(1, accel.device_count())",
        ),
        (
            "mp.spawn(main, nprocs=torch.cuda.device_count())",
            "mp.spawn(main, nprocs=max(1, accel.device_count()))",
        ),
        (
            "from torch import multiprocessing as m\nm.spawn(f, a, torch.cuda.device_count())",
            "from torch import multiprocessing as m\nm.spawn(f, a, max(1, accel.device_count()))",
        ),
        ("a = b // torch.cuda.device_count()", "a = b // max(1, accel.device_count())"),
        (
            "n = torch.cuda.device_count()\nlocal = rank % n\nmp.spawn(main, nprocs=n)",
            "n = max(1, accel.device_count())\nlocal = rank % n\nmp.spawn(main, nprocs=n)",
        ),
        (
            "args.gpus = torch.cuda.device_count()\nargs.batch //= args.gpus",
            "args.gpus = max(1, accel.device_count())\nargs.batch //= args.gpus",
        ),
        (
            "world_size = torch.cuda.device_count()",
            "world_size = max(1, accel.device_count())",
        ),
        (
            "args.world_size = torch.cuda.device_count() * args.nodes",
            "args.world_size = max(1, accel.device_count()) * args.nodes",
        ),
        (
            "steps = total // (batch * torch.cuda.device_count())",
            "steps = total // (batch * max(1, accel.device_count()))",
        ),
        (
            "from torch.cuda import device_count\nrank = i % device_count()",
            "from porter_runtime import device_count\nrank = i % max(1, device_count())",
        ),
        (
            "mp.spawn(main, nprocs=min(torch.cuda.device_count(), args.world_size))",
            "mp.spawn(main, nprocs=min(max(1, accel.device_count()), args.world_size))",
        ),
        (
            'print(f"{rank % torch.cuda.device_count()}")',
            'print(f"{rank % max(1, accel.device_count())}")',
        ),
    ],
    notes=[
        "if is_npu_available():\n    pass\nelse:\n    local = rank % torch.cuda.device_count()",
    ],
    valid=[
        "if torch.cuda.device_count() == 0:\n    pass",
        "n = torch.cuda.device_count()\nif n > 1:\n    pass",
        "def a(x):\n    x.n = torch.cuda.device_count()\ndef b(x):\n    spawn(nprocs=x.n)",
        "share = batch / max(1, torch.cuda.device_count())",
        "half = torch.cuda.device_count() // 2",
        "rank = i % torch.npu.device_count()",
        "workers = min(torch.cuda.device_count(), 8)",
        "text = '%d GPUs' % torch.cuda.device_count()",
    ],
)
def device_count(original: cst.Call, updated: cst.Call, ctx: Context) -> Outcome:
    """Count at least one device where the number divides, or says how many processes to start.

    Without an accelerator `device_count()` is 0, as torch.cuda says there, and so it stays
    everywhere else (PTR201): what asks for it keeps its branch. But `rank % device_count()` would
    raise, and `nprocs=device_count()` would start nothing; there it becomes
    `max(1, accel.device_count())`, so that one process does the job on the CPU. So does a
    variable that is used in this way in the same function, and one that is called `world_size`,
    and the number inside of a product or of `min(...)` there.

    On CUDA, as on an NPU, the number is the same.
    """
    if torch_cuda_name(original.func, ctx) != "device_count" or not _must_count(original, ctx):
        return None
    if ctx.within("npu_aware"):
        return NPU_HANDLED
    count = updated
    if isinstance(original.func, cst.Attribute):
        count = updated.with_changes(func=ctx.runtime("device_count"))
    return cst.Call(cst.Name("max"), [cst.Arg(cst.Integer("1")), cst.Arg(count)])


def _must_count(node: cst.Call, ctx: Context) -> bool:
    """Whether 0 would raise, or do nothing, in this place."""
    whole, around = _number(node, ctx)
    role = around.role(whole)
    match role.kind:
        case "operand":
            return _is_divisor(whole, around.parent)
        case "keyword":
            return role.name in _PROCESSES
        case "argument":
            return role.callee == "torch.multiprocessing.spawn" and role.position == 2
        case "assign":
            return role.name in _PROCESSES or ctx.within(f"counts:{role.name}")
    return False


def _number(node: cst.CSTNode, ctx: Context) -> tuple[cst.CSTNode, Context]:
    """Return the product or minimum that is 0 where the node is, and where that stands.

    Where there is none around the node, that is the node itself.
    """
    at = len(ctx.stack)
    while at > 0:
        match ctx.stack[:at]:
            case [*_, cst.BinaryOperation(operator=cst.Multiply()) as around]:
                node, at = around, at - 1
            case [*_, cst.Call() as around, cst.Arg()] if ctx.callee(around) == "builtins.min":
                node, at = around, at - 2
            case _:
                break
    return node, replace(ctx, stack=ctx.stack[:at])


def _is_divisor(node: cst.CSTNode, parent: cst.CSTNode | None) -> bool:
    if not isinstance(parent, cst.BinaryOperation) or parent.right is not node:
        return False
    if isinstance(parent.left, cst.BaseString):
        return False  # `"%d" % n` formats
    return isinstance(parent.operator, cst.Modulo | cst.FloorDivide | cst.Divide)
