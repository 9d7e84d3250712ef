"""Checkpoints that are loaded without saying where to."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, Ported, Role, rule
from porter_rules.arguments import with_keyword, with_value
from porter_rules.device_ids import is_none
from porter_rules.device_places import is_map_location
from porter_rules.nodes import argument

_REMARK = (
    "off CUDA a TorchScript archive or a safetensors file needs a device's name instead: "
    "map_location=accel.device_type"
)

_SCRIPTED = Manual(
    "torch.jit.load without map_location puts a module back on the device it was saved from, which "
    'fails without CUDA: add map_location=accel.device_type, or map_location="cpu"'
)


@rule(
    "PTR603",
    on=(cst.Call, cst.IfExp),
    needs=("load", "map_location", "is_available"),
    rewrites=[
        (
            'import torch\nsd = torch.load("m.pt")\n',
            'import torch\nsd = torch.load("m.pt", map_location=accel.map_location)\n',
        ),
        (
            'import torch\nsd = torch.load("m.pt", weights_only=True)\n',
            "import torch\n"
            'sd = torch.load("m.pt", weights_only=True, map_location=accel.map_location)\n',
        ),
        (
            'import torch\nwith open(p, "rb") as f:\n    sd = torch.load(f)["state_dict"]\n',
            'import torch\nwith open(p, "rb") as f:\n'
            '    sd = torch.load(f, map_location=accel.map_location)["state_dict"]\n',
        ),
        (
            "import torch as th\nsd = th.load(\n    path,  # the best\n)\n",
            "import torch as th\n"
            "sd = th.load(\n    path, map_location=accel.map_location,  # the best\n)\n",
        ),
        (
            "from torch import load\nsd = load(path)\n",
            "from torch import load\nsd = load(path, map_location=accel.map_location)\n",
        ),
        (
            "import torch\nsd = torch.load(path, map_location=None)\n",
            "import torch\nsd = torch.load(path, map_location=accel.map_location)\n",
        ),
        (
            "import torch\nsd = torch.load(path, None, pickle)\n",
            "import torch\nsd = torch.load(path, accel.map_location, pickle)\n",
        ),
        (
            "import torch\n"
            "sd = torch.load(p, map_location=None if torch.cuda.is_available() else 'cpu')\n",
            "import torch\n"
            "sd = torch.load("
            "p, map_location=accel.map_location if accel.is_available() else 'cpu')\n",
        ),
        (
            "import torch\n"
            "map_location = torch.device('cpu') if not torch.cuda.is_available() else None\n",
            "import torch\n"
            "map_location = torch.device('cpu') if not accel.is_available() "
            "else accel.map_location\n",
        ),
    ],
    manual=[
        "import torch\nm = torch.jit.load(path)  # CUDA\n",
        "import torch\nm = torch.jit.load(path, map_location=None if use_cuda else 'cpu')\n",
    ],
    valid=[
        'import torch\nsd = torch.load("m.pt", map_location="cpu")\n',
        'import torch\nsd = torch.load("m.pt", device)\n',
        'import torch\nsd = torch.load("m.pt", **options)\n',
        "import torch\nsd = torch.load(*where)\n",
        "import torch\ndevice = None if torch.cuda.is_available() else 'cpu'\n",
        'import json\nsd = json.load("torch.load")\n',
    ],
)
def torch_load(original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context) -> Outcome:
    """Load checkpoints that were saved from CUDA onto the device that is there.

    Without map_location every tensor goes back to the device that it was saved from, and a
    checkpoint from CUDA can't be loaded where CUDA is missing. `accel.map_location` sends what
    came from CUDA to the same index of the device that is there, or to the CPU; what was saved
    from the CPU stays there. On CUDA it is None, torch.load's own default. It takes the place of
    None in a choice, too: `map_location=None if torch.cuda.is_available() else "cpu"`.

    Arguments behind stars may hold a map_location and stay. `torch.jit.load` takes no such table
    and is left: say `map_location=accel.device_type`, or "cpu".
    """
    if isinstance(original, cst.IfExp):
        assert isinstance(updated, cst.IfExp)
        return _choice(updated, ctx.role(original), ctx)
    assert isinstance(original, cst.Call)
    assert isinstance(updated, cst.Call)
    name = ctx.callee(original)
    if name not in ("torch.load", "torch.jit.load"):
        return None
    if any(a.star for a in original.args) or len(original.args) == 0:
        return None
    location = argument(original, "map_location", 1)
    if location is not None and not is_none(location.value):
        return None
    if name == "torch.jit.load":
        return _SCRIPTED
    table = ctx.runtime("map_location")
    if location is not None:
        return Ported(with_value(updated, original.args.index(location), table), remark=_REMARK)
    return Ported(with_keyword(updated, "map_location", table), remark=_REMARK)


def _choice(updated: cst.IfExp, role: Role | None, ctx: Context) -> Outcome:
    """Answer for a map_location that is None under a condition."""
    if role is None or not is_map_location(role):
        return None
    nothing = [name for name in ("body", "orelse") if is_none(getattr(updated, name))]
    if not nothing:
        return None
    if role.callee == "torch.jit.load":
        return _SCRIPTED
    return updated.with_changes(**{name: ctx.runtime("map_location") for name in nothing})
