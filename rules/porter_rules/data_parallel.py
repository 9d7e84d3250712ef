"""`torch.nn.DataParallel`."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, rule
from porter_rules.arguments import called

_NAMES = frozenset(
    {
        "torch.nn.DataParallel",
        "torch.nn.parallel.DataParallel",
        "torch.nn.parallel.data_parallel",
        "torch.nn.parallel.data_parallel.DataParallel",
        "torch.nn.parallel.data_parallel.data_parallel",
    }
)


@rule(
    "PTR507",
    on=cst.Call,
    needs=("DataParallel", "data_parallel"),
    manual=[
        "model = torch.nn.DataParallel(model)",
        "import torch.nn as nn\nmodel = nn.DataParallel(model, device_ids=[0, 1])\n",
        "from torch.nn import DataParallel as DP\nmodel = DP(model)\n",
        "y = torch.nn.parallel.data_parallel(m, x)  # CUDA only",
        "m = MMDataParallel(m, device_ids=[0])",
    ],
    valid=[
        "isinstance(model, torch.nn.DataParallel)",
        "from torch.nn.parallel import DistributedDataParallel as DDP\nm = DDP(m)\n",
    ],
)
def data_parallel(original: cst.Call, updated: cst.Call, ctx: Context) -> Outcome:
    """Report DataParallel, which drives several devices from one process.

    torch_npu doesn't support it, and torch advises against it on CUDA as well. Start one process
    for each device and wrap the model in DistributedDataParallel. On one device, or none, it only
    calls the module.
    """
    callee, _ = called(original, ctx)
    last = callee.rpartition(".")[2]
    has_ids = any(a.keyword is not None and a.keyword.value == "device_ids" for a in original.args)
    subclass = last.endswith("DataParallel") and not last.endswith(
        ("DistributedDataParallel", "FullyShardedDataParallel", "ShardedDataParallel")
    )
    if callee not in _NAMES and not (subclass and has_ids):
        return None
    return Manual(
        f"`{last}` splits a batch over the devices of one process, which NPUs don't do: start one "
        "process for each device (torchrun) and use DistributedDataParallel",
        whole=False,
    )
