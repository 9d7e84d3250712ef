"""`barrier(device_ids=[rank])`."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, rule
from porter_rules.arguments import with_value
from porter_rules.device_ids import is_none, ported_ids
from porter_rules.nodes import argument


@rule(
    "PTR504",
    on=cst.Call,
    needs=("barrier",),
    rewrites=[
        (
            "dist.barrier(device_ids=[local_rank])",
            "dist.barrier(device_ids=accel.device_ids(local_rank))",
        ),
        (
            "torch.distributed.barrier(group, False, [rank])  # CUDA",
            "torch.distributed.barrier(group, False, accel.device_ids(rank))  # CUDA",
        ),
        (
            "from torch.distributed import barrier\nbarrier(g, device_ids=[0])\n",
            "from torch.distributed import barrier\nbarrier(g, device_ids=accel.device_ids(0))\n",
        ),
        (
            "torch.distributed.barrier(device_ids=[torch.cuda.current_device()])",
            "torch.distributed.barrier(device_ids=accel.device_ids(accel.current_device()))",
        ),
    ],
    manual=[
        "torch.distributed.barrier(device_ids=self.ids())",
        "torch.distributed.barrier(group, False, ['cuda'])",
    ],
    valid=["dist.barrier()", "dist.barrier(device_ids=None)"],
)
def barrier(original: cst.Call, updated: cst.Call, ctx: Context) -> Outcome:
    """Give `barrier` the process's device, or None on the CPU.

    gloo refuses device_ids; `accel.device_ids(rank)` is None where the shim's backend is gloo, and
    `[rank]` on CUDA, as before. Devices that come from elsewhere stay, since it is not in sight
    whether they are None on the CPU: pass `accel.device_ids(rank)`.
    """
    callee = ctx.callee(original)
    if callee.rpartition(".")[2] != "barrier":
        return None
    ids = argument(original, "device_ids", 2)  # of group, async_op, device_ids
    if ids is None or is_none(ids.value):
        return None
    if ids.keyword is None and not isinstance(ids.value, cst.List):
        return None  # some other barrier's third argument
    index = original.args.index(ids)
    value = ported_ids(ids.value, updated.args[index].value, ctx)
    if value is None:
        return Manual(
            "gloo refuses `device_ids`, and it is not in sight that they are None on the CPU: "
            "pass `device_ids=accel.device_ids(rank)`",
            whole=False,
        )
    return (
        None if value.deep_equals(updated.args[index].value) else with_value(updated, index, value)
    )
