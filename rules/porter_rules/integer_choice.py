"""The choice between the index of a GPU and the CPU."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, rule
from porter_rules.availability import asks_availability
from porter_rules.device_names import names_device
from porter_rules.torch_receivers import PIPELINES

_BOTH = (
    "holds the index of a GPU, which is compared, counted with or written into a text as well: "
    "keep the index under another name for that, and make this a device with accel.torch_device(0)"
)
_PLACES = ("assign", "keyword", "default", "return", "value")


@rule(
    "PTR311",
    on=cst.IfExp,
    rewrites=[
        (
            'import torch\ndevice = 0 if torch.cuda.is_available() else "cpu"\n',
            'import torch\ndevice = accel.torch_device(0) if accel.is_available() else "cpu"\n',
        ),
        (
            "import torch\nm.to(1 if torch.cuda.is_available() else 'cpu')\n",
            "import torch\nm.to(accel.torch_device(1))\n",
        ),
        (
            "import torch\nfrom transformers import pipeline\n"
            "p = pipeline(t, device=0 if torch.cuda.is_available() else -1)\n",
            "import torch\nfrom transformers import pipeline\n"
            "p = pipeline(t, device=accel.torch_device(0) if accel.is_available() else -1)\n",
        ),
    ],
    manual=[
        "import torch\ndevice = 0 if torch.cuda.is_available() else -1\n",
        'import torch\ndevice = 0 if torch.cuda.is_available() else "cpu"\nfirst = device == 0\n',
    ],
    valid=[
        "import torch\nn = 0 if torch.cuda.is_available() else -1\n",
        "import torch\nworkers = 4 if torch.cuda.is_available() else 0\n",
    ],
)
def integer_choice(original: cst.IfExp, updated: cst.IfExp, ctx: Context) -> Outcome:
    """Give the index in `0 if torch.cuda.is_available() else "cpu"` its type.

    A bare index means CUDA to older versions of torch, and nothing on the CPU. Where the choice
    names a device, the index becomes `accel.torch_device(0)`, which on CUDA is the same device;
    the test is ported as well, and is not needed any more where the choice goes straight to
    `.to(...)`. With -1 in the place of "cpu", the convention of Hugging Face's
    pipelines, it is ported where it goes straight to a pipeline; a variable that holds such a
    number may be compared or counted with, so it is left as a whole. So is a variable with which
    that is done, whatever stands in the place of "cpu".
    """
    role = ctx.role(original)
    moved = role.kind == "argument" and role.position == 0 and role.callee.endswith(".to")
    if not moved and not (role.kind in _PLACES and names_device(role.name)):
        return None
    match original.body, original.orelse:
        case cst.Integer(), cst.SimpleString(value="'cpu'" | '"cpu"'):
            is_device = True
            if role.kind == "assign" and ctx.within(f"number:{role.name}"):
                return Manual(f"{role.name} {_BOTH}")
        case cst.Integer(), cst.UnaryOperation(cst.Minus(), cst.Integer("1")):
            is_device = role.callee in PIPELINES
        case _:
            return None
    if not is_device:
        return Manual(
            "the index of a GPU, or -1 for the CPU: where it goes to a pipeline make it "
            "`accel.torch_device(0) if accel.is_available() else -1`, and test "
            "accel.is_available() alone where it is compared or counted with"
        )
    device = ctx.runtime_call("torch_device", updated.body)
    if moved and asks_availability(original.test, ctx):
        return device
    return updated.with_changes(body=device)
