"""`torch.random.fork_rng`."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Outcome, rule
from porter_rules.arguments import called, with_callee, without
from porter_rules.nodes import argument, string_value

_FORK_RNG = "torch.random.fork_rng"


@rule(
    "PTR412",
    on=cst.Call,
    needs=("fork_rng",),
    rewrites=[
        (
            "with torch.random.fork_rng():\n    pass\n",
            "with accel.fork_rng():\n    pass\n",
        ),
        (
            "with torch.random.fork_rng(devices=[rank], enabled=flag):\n    pass\n",
            "with accel.fork_rng(devices=[rank], enabled=flag):\n    pass\n",
        ),
        (
            'with torch.random.fork_rng(device_type="cuda"):\n    pass\n',
            "with accel.fork_rng():\n    pass\n",
        ),
        (
            "from torch.random import fork_rng\nwith fork_rng():\n    pass\n",
            "from torch.random import fork_rng\nwith accel.fork_rng():\n    pass\n",
        ),
    ],
    valid=[
        "with torch.random.fork_rng(devices=[]):\n    pass\n",
        "with torch.random.fork_rng(device_type=device.type):\n    pass\n",
        'with torch.random.fork_rng(device_type="cpu"):\n    pass\n',
    ],
)
def fork_rng(original: cst.Call, updated: cst.Call, ctx: Context) -> Outcome:
    """Fork the random state of the device that is there: `accel.fork_rng`.

    Up to torch 2.11 the device type is "cuda" where none is given, so that an NPU's state was
    neither saved nor restored. On CUDA the same call is made; on the CPU the devices are left out,
    as torch does there.

    An empty list of devices forks the CPU's state alone and stays, as does another device type.
    """
    callee, start = called(original, ctx)
    if callee != _FORK_RNG:
        return None
    devices = argument(original, "devices", start)
    if devices is not None and isinstance(devices.value, cst.List) and not devices.value.elements:
        return None
    twin = with_callee(updated, ctx.runtime("fork_rng"), start)
    device_type = argument(original, "device_type", None)
    if device_type is None:
        return twin
    if string_value(device_type.value) != "cuda":
        return None
    return twin.with_changes(args=without(twin.args, original.args.index(device_type)))
