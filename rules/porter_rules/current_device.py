"""`torch.cuda.current_device()` handed on as a device."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, Role, rule
from porter_rules.names import is_call, mirrors

_DEVICE_KEYWORDS = frozenset({"device", "map_location"})
_DEVICE_POSITIONS = {
    "?.to": 0,
    "torch.set_default_device": 0,
    "torch.load": 1,
    "torch.Generator": 0,
}
"""Where a call takes a device by position, by what is called."""

_BOTH = (
    "holds an index that is compared, counted with or written into a text, and is handed on as a "
    "device too: keep the index for the first, and hand on accel.torch_device(...) of it"
)


@rule(
    "PTR205",
    on=cst.Call,
    needs=("current_device", "get_device"),
    rewrites=[
        (
            "t = torch.tensor(v, device=torch.cuda.current_device())",
            "t = torch.tensor(v, device=accel.torch_device(accel.current_device()))",
        ),
        (
            "x = x.to(torch.cuda.current_device(), non_blocking=True)",
            "x = x.to(accel.torch_device(accel.current_device()), non_blocking=True)",
        ),
        (
            "x.to(device=torch.cuda.current_device())",
            "x.to(device=accel.torch_device(accel.current_device()))",
        ),
        (
            "d = torch.device(torch.cuda.current_device())",
            "d = accel.torch_device(accel.current_device())",
        ),
        (
            "ck = torch.load(p, map_location=torch.cuda.current_device())",
            "ck = torch.load(p, map_location=accel.torch_device(accel.current_device()))",
        ),
        (
            "data = send_to_device(data, torch.cuda.current_device())",
            "data = send_to_device(data, accel.torch_device(accel.current_device()))",
        ),
        (
            "device = torch.cuda.current_device()\nt = t.to(device)",
            "device = accel.torch_device(accel.current_device())\nt = t.to(device)",
        ),
        (
            "from torch.cuda import current_device\nx = x.to(current_device())",
            "from porter_runtime import current_device\n"
            "x = x.to(accel.torch_device(current_device()))",
        ),
        (
            "cur_device = torch.cuda.current_device()\n"
            'p = torch.cuda.get_device_properties(f"cuda:{cur_device}")\nx = x.to(cur_device)',
            "cur_device = accel.torch_device(accel.current_device())\n"
            "p = accel.get_device_properties(accel.torch_device(cur_device))\n"
            "x = x.to(cur_device)",
        ),
    ],
    manual=[
        "device = torch.cuda.current_device()\nif device == 0:\n    x = x.to(device)",
        "class A:\n"
        "    def __init__(self):\n        self.device = torch.cuda.current_device()\n"
        "    def f(self, x):\n        return x.to(device=self.device), ids[self.device]",
    ],
    valid=[
        'name = f"rank{torch.cuda.current_device()}"',
        "i = torch.cuda.current_device()",
        "n = torch.cuda.memory_allocated(device=torch.cuda.current_device())",
        "n = torch.cuda.memory_allocated(device=(torch  # mine\n.cuda.current_device()))",
        "torch.cuda.set_device(torch.cuda.current_device())",
        "x.cuda(torch.cuda.current_device())",
        "m = DDP(m, device_ids=[torch.cuda.current_device()])",
        "d = torch.device('cuda', torch.cuda.current_device())",
        "device_id = torch.cuda.current_device()",
        "ok = torch.cuda.current_device() == 0",
        "device = torch.cuda.current_device()\nif device == 0:\n    pass",
        'my_device = torch.cuda.current_device()\nname = f"rank{my_device}"',
        'my_device = torch.cuda.current_device()\nname = "rank%d of %d" % (my_device, n)',
        "device = torch.cuda.current_device()\nh = pynvml.nvmlDeviceGetHandleByIndex(device)",
        "device = torch.cuda.current_device()\nfor i in range(device):\n    x = xs[device] + i",
        "x = x.to(torch.npu.current_device())",
    ],
)
def current_device(original: cst.Call, updated: cst.Call, ctx: Context) -> Outcome:
    """Turn the current device's index into a device where a device is meant.

    `device=torch.cuda.current_device()`, `.to(torch.cuda.current_device())` and the like hand an
    int to torch, which means a CUDA device to older releases and is refused without an
    accelerator. It becomes `accel.torch_device(accel.current_device())`.

    On CUDA the device is the same one, as a torch.device in place of its index.

    Where the index itself is used (in a name, a comparison, as an argument of torch.cuda's own
    functions) it stays an index: `accel.current_device()`. So does a variable with which that is
    done; where it is handed on as a device as well, it is reported. Hugging Face's device maps
    are PTR703's.
    """
    if ctx.within("npu_aware"):
        return None
    if ctx.qualified(original.func) == "torch.device":
        if len(original.args) == 1 and is_call(original.args[0].value, "current_device", ctx):
            return updated.with_changes(func=ctx.runtime("torch_device"))
        return None
    if not is_call(original, "current_device", ctx):
        return None
    role = ctx.role(original)
    if not _is_device(role):
        return None
    if role.kind == "assign" and ctx.within(f"number:{role.name}"):
        both = ctx.within(f"device:{role.name}")
        return Manual(f"{role.name} {_BOTH}") if both else None
    return ctx.runtime_call("torch_device", updated)


def _is_device(role: Role) -> bool:
    if role.callee.startswith("torch.cuda.") or mirrors(role.callee):
        return False
    match role.kind:
        case "keyword":
            return role.name in _DEVICE_KEYWORDS
        case "argument" if role.callee.endswith("to_device"):
            return role.position == 1
        case "argument":
            return _DEVICE_POSITIONS.get(role.callee) == role.position
        case "assign":
            return role.name == "device" or role.name.endswith("_device")
    return False
