"""`device_id=` of init_process_group and of FSDP."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Outcome, rule
from porter_rules.arguments import called, with_value
from porter_rules.device_ids import is_none, ported_id
from porter_rules.nodes import argument, is_runtime


@rule(
    "PTR505",
    on=cst.Call,
    needs=("device_id",),
    rewrites=[
        (
            'torch.distributed.init_process_group("nccl", device_id=torch.device("cuda", lr))',
            "torch.distributed.init_process_group("
            "accel.dist_backend(), device_id=accel.device_id(accel.torch_device(lr)))",
        ),
        (
            'torch.distributed.init_process_group("nccl", device_id=device)',
            "torch.distributed.init_process_group("
            "accel.dist_backend(), device_id=accel.device_id(device))",
        ),
        (
            "torch.distributed.new_group([0], device_id=d if torch.cuda.is_available() else None)",
            "torch.distributed.new_group("
            "[0], device_id=accel.device_id(d if accel.is_available() else None))",
        ),
        (
            "m = FSDP(m, device_id=torch.cuda.current_device())",
            "m = FSDP(m, device_id=accel.torch_device(accel.current_device()))",
        ),
        (
            "from torch.distributed.fsdp import FullyShardedDataParallel\n"
            "m = FullyShardedDataParallel(m, device_id=local_rank)\n",
            "from torch.distributed.fsdp import FullyShardedDataParallel\n"
            "m = FullyShardedDataParallel(m, device_id=accel.torch_device(local_rank))\n",
        ),
    ],
    valid=[
        "m = FSDP(m, device_id=None)",
        "m = FSDP(m, device_id=accel.torch_device(rank))",
        "model = ONNXRuntimeDetector(path, device_id=0)",
        "torch.distributed.init_process_group(device_id=None)",
        "torch.distributed.new_group([0], device_id=accel.device_id(r) if c else None)",
    ],
)
def process_group_device(original: cst.Call, updated: cst.Call, ctx: Context) -> Outcome:
    """Bind process groups and FSDP to the device that is there.

    gloo refuses the CPU as the device of a process group, so init_process_group and new_group get
    `accel.device_id(device)`, which is None there. FSDP takes a device or an index and means CUDA
    by the latter: it gets `accel.torch_device(index)`. On CUDA both are the device that stood here.
    """
    callee, _ = called(original, ctx)
    arg = argument(original, "device_id", None)
    if arg is None or is_none(arg.value):
        return None
    last = callee.rpartition(".")[2]
    index = original.args.index(arg)
    value = updated.args[index].value
    if last in ("init_process_group", "new_group"):
        ported = ported_id(value, ctx)
    elif last == "FSDP" or last.endswith("FullyShardedDataParallel"):
        ported = value if _is_device(value, ctx) else ctx.runtime_call("torch_device", value)
    else:
        return None
    return None if ported is value else with_value(updated, index, ported)


def _is_device(node: cst.BaseExpression, ctx: Context) -> bool:
    """Whether the value is `accel.torch_device(...)` already."""
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name("torch_device"))):
            return is_runtime(node, ctx)
        case cst.Call(func=func):
            return ctx.qualified(func) == "torch.device"
    return False
