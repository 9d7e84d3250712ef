"""Checkpoints that are loaded without saying where to."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, rule
from porter_rules.nodes import argument


@rule(
    "PTR603",
    on=cst.Call,
    manual=[
        'import torch\nsd = torch.load("m.pt")\n',
        'import torch\nsd = torch.load("m.pt", weights_only=True)\n',
        'import torch\nwith open(p, "rb") as f:\n    sd = torch.load(f)["state_dict"]\n',
        "import torch\nm = torch.jit.load(path)  # CUDA\n",
    ],
    valid=[
        'import torch\nsd = torch.load("m.pt", map_location="cpu")\n',
        'import torch\nsd = torch.load("m.pt", device)\n',
        'import torch\nsd = torch.load("m.pt", **options)\n',
        "import torch\nsd = torch.load(*where)\n",
        'import json\nsd = json.load("torch.load")\n',
    ],
)
def torch_load(original: cst.Call, updated: cst.Call, ctx: Context) -> Outcome:
    """Point out `torch.load` and `torch.jit.load` without map_location.

    Without it every tensor goes back to the device that it was saved from, and a checkpoint from
    CUDA can't be loaded where CUDA is missing. It is not added here: on CUDA, tensors that were
    saved on the CPU would then land on the GPU, which changes what the program does. Say
    `map_location="cpu"` where load_state_dict copies the values anyway, or
    `map_location=accel.device_type`.
    """
    name = ctx.callee(original)
    if name not in ("torch.load", "torch.jit.load"):
        return None
    if any(a.star for a in original.args) or len(original.args) == 0:
        return None
    if argument(original, "map_location", 1) is not None:
        return None
    return Manual(
        f"{name} without map_location puts tensors back on the device they were saved from, "
        'which fails without CUDA: add map_location="cpu" (load_state_dict copies the values '
        "anyway) or map_location=accel.device_type"
    )
