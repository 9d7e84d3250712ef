"""Integers that are used as devices."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, rule
from porter_rules.names import mirrors
from porter_rules.nodes import argument
from porter_rules.ranks import is_rank
from porter_rules.receivers import is_tensor_like
from porter_rules.torch_receivers import PIPELINES, is_torch

_INDEX_NAMES = frozenset({"i", "j", "idx", "index", "gpu_idx", "gpu_index", "device_idx"})


@rule(
    "PTR120",
    on=cst.Call,
    needs=(),
    rewrites=[
        (
            "import torch\nx = torch.ones(2).to(0)  # CUDA\n",
            "import torch\nx = torch.ones(2).to(accel.torch_device(0))  # CUDA\n",
        ),
        ("model = model.to(0)  # CUDA\n", "model = model.to(accel.torch_device(0))  # CUDA\n"),
        (
            "y = x.cuda().to(local_rank)  # CUDA\n",
            "y = x.to(accel.device_type).to(accel.torch_device(local_rank))  # CUDA\n",
        ),
        (
            "x = x.to(rank, non_blocking=True)  # CUDA\n",
            "x = x.to(accel.torch_device(rank), non_blocking=True)  # CUDA\n",
        ),
        ("m.to(self.local_rank)  # CUDA\n", "m.to(accel.torch_device(self.local_rank))  # CUDA\n"),
        (
            "m.to(device=args.local_rank)  # CUDA\n",
            "m.to(device=accel.torch_device(args.local_rank))  # CUDA\n",
        ),
        ("m.to(gpu_ids[0])  # CUDA\n", "m.to(accel.torch_device(gpu_ids[0]))  # CUDA\n"),
        (
            'import os\nm.to(int(os.environ["LOCAL_RANK"]))  # CUDA\n',
            'import os\nm.to(accel.torch_device(int(os.environ["LOCAL_RANK"])))  # CUDA\n',
        ),
        (
            "import torch\nx = torch.zeros(1, device=args.rank)  # CUDA\n",
            "import torch\nx = torch.zeros(1, device=accel.torch_device(args.rank))  # CUDA\n",
        ),
        (
            "import torch\n_ = torch.tensor([0], device=i)  # CUDA\n",
            "import torch\n_ = torch.tensor([0], device=accel.torch_device(i))  # CUDA\n",
        ),
        (
            "import torch\nd = torch.device(0)  # CUDA\n",
            "import torch\nd = accel.torch_device(0)  # CUDA\n",
        ),
        (
            "import torch\nd = torch.device(rank)  # CUDA\n",
            "import torch\nd = accel.torch_device(rank)  # CUDA\n",
        ),
        ("y = y.to(x.get_device())  # CUDA\n", "y = y.to(x.device)  # CUDA\n"),
        (
            "import torch\ny = torch.zeros(3, device=x.get_device())  # CUDA\n",
            "import torch\ny = torch.zeros(3, device=x.device)  # CUDA\n",
        ),
        (
            "from transformers import pipeline\np = pipeline(t, device=0)  # CUDA\n",
            "from transformers import pipeline\n"
            "p = pipeline(t, device=accel.torch_device(0))  # CUDA\n",
        ),
    ],
    manual=[
        "y = thing.to(0)  # CUDA\n",
        "evaluate(model, device=local_rank)  # CUDA\n",
        "run(device=0)  # CUDA\n",
    ],
    valid=[
        "import torch\nz = torch.ones(2).to(torch.int32)\n",
        "import pandas as pd\npd.Series([1]).to(0)  # cuda\n",
        "import torch\ntorch.cuda.synchronize(device=0)\n",
        "import torch\nx = torch.zeros(1, device=device)  # cuda\n",
        "from transformers import pipeline\npipeline('fill-mask', device=-1)  # cuda\n",
        "d = get_device()  # cuda\n",
        "import torch\nx = torch.zeros(3, device=self.get_device())  # cuda\n",
        "x = x.to(self.get_device())  # cuda\n",
        "import chainer\nevaluate(model, device=gpu_id)  # cuda\n",
        "print(f'cuda {rank}', rank)\n",
    ],
)
def integer_device(original: cst.Call, updated: cst.Call, ctx: Context) -> Outcome:
    """Give integers that are used as devices their type, through the shim's `torch_device`.

    A bare integer means "this kind of accelerator" to recent torch and "CUDA" to older ones, and
    nothing at all without an accelerator. `.to(0)`, `.to(rank)`, `device=local_rank` and
    `torch.device(0)` become `accel.torch_device(...)`, which on CUDA is the same device and on the
    CPU drops the index. `.to(x.get_device())` becomes `.to(x.device)`: for a tensor on the CPU
    get_device() is -1, which is no device. `self.get_device()` is a method of your own.

    Types are not known, so this goes by what can be seen: a literal is rewritten where the
    receiver is made by torch, or has a name that tensors and models have; a variable where it is
    called like a rank (`rank`, `local_rank`, `gpu`, `gpu_id`, `device_id`, ...); an unknown
    function that gets such a `device=` is left to a person, and other libraries' `.to(0)` alone.
    A variable that holds an integer device under another name (`device = 0`) is not seen.
    Such a line is only looked at in files that mention CUDA in another place, too.
    """
    if ctx.within("other_framework"):
        return None
    callee = ctx.callee(original)
    name = callee.rpartition(".")[2]
    if callee == "torch.device":
        return _torch_device(original, updated, ctx)
    if name == "to" and isinstance(original.func, cst.Attribute):
        return _to(original, updated, ctx)
    arg = argument(original, "device", None)
    if arg is None or mirrors(callee):
        return None
    typed = _typed(arg.value, ctx, loose=callee.startswith("torch."))
    if typed is None:
        return None
    if callee.startswith(("torch.", "?.new_")) or callee in PIPELINES:
        return _with_device(updated, original.args.index(arg), typed)
    if isinstance(typed, cst.Attribute):
        return None
    return Manual(
        f"{name}(device=...) gets an integer: if it is used as a torch device, pass "
        "accel.torch_device(...) of it; if as an index, leave it"
    )


def _torch_device(original: cst.Call, updated: cst.Call, ctx: Context) -> Outcome:
    if len(original.args) != 1 or original.args[0].keyword is not None:
        return None
    typed = _typed(original.args[0].value, ctx, loose=False)
    if typed is None or not isinstance(typed, cst.Call):
        return None
    return updated.with_changes(func=typed.func)


def _to(original: cst.Call, updated: cst.Call, ctx: Context) -> Outcome:
    arg = argument(original, "device", None) or argument(original, None, 0)
    if arg is None or arg.star:
        return None
    typed = _typed(arg.value, ctx, loose=False)
    if typed is None:
        return None
    assert isinstance(original.func, cst.Attribute)
    if isinstance(arg.value, cst.Integer):
        made_by_torch = is_torch(original.func.value, ctx)
        if made_by_torch is None:
            return Manual(
                f"`.to({arg.value.value})` moves to a device where this is a tensor or module, "
                f"which can't be seen here: write .to(accel.torch_device({arg.value.value})) then"
            )
        if not made_by_torch:
            return None
    return _with_device(updated, original.args.index(arg), typed)


def _typed(value: cst.BaseExpression, ctx: Context, *, loose: bool) -> cst.BaseExpression | None:
    """Return the typed form of an integer device, None for anything else.

    `loose` says that the place can only take a device, so that loop variables count as well.
    """
    match value:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="get_device")), args=[]):
            if ctx.qualified(value.func) is None and is_tensor_like(owner):
                return cst.Attribute(owner, cst.Name("device"))
            return None
        case cst.Integer():
            return ctx.runtime_call("torch_device", value)
        case cst.Name(value=name) if loose and name in _INDEX_NAMES:
            return ctx.runtime_call("torch_device", value)
    return ctx.runtime_call("torch_device", value) if is_rank(value, ctx) else None


def _with_device(call: cst.Call, index: int, typed: cst.BaseExpression) -> cst.Call:
    """Put a typed device in an argument's place; the argument itself may have been ported."""
    args = list(call.args)
    value = args[index].value
    if isinstance(typed, cst.Call):
        typed = typed.with_changes(args=[typed.args[0].with_changes(value=value)])
    elif isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute):
        typed = typed.with_changes(value=value.func.value)
    args[index] = args[index].with_changes(value=typed)
    return call.with_changes(args=args)
