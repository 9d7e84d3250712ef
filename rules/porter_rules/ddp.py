"""`DistributedDataParallel(device_ids=..., output_device=...)`."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, rule
from porter_rules.arguments import called, with_value
from porter_rules.device_ids import ported_id, ported_ids
from porter_rules.nodes import argument, string_value

_ELSEWHERE = ("barrier", "data_parallel", "DataParallel")
"""The ends of names whose `device_ids` other rules speak of."""

_ARGUMENTS = Manual(
    "these arguments have to be None on the CPU where DistributedDataParallel gets them: write "
    "accel.device_ids(rank) for `device_ids` and accel.device_id(rank) for `output_device`",
    whole=False,
)


@rule(
    "PTR503",
    on=(cst.Call, cst.Dict),
    needs=("DistributedDataParallel", "DDP", "device_ids", "output_device"),
    rewrites=[
        (
            "from torch.nn.parallel import DistributedDataParallel as DDP\n"
            "m = DDP(m, device_ids=[lr], output_device=lr, find_unused_parameters=True)\n",
            "from torch.nn.parallel import DistributedDataParallel as DDP\n"
            "m = DDP(m, device_ids=accel.device_ids(lr), output_device=accel.device_id(lr), "
            "find_unused_parameters=True)\n",
        ),
        (
            "m = torch.nn.parallel.DistributedDataParallel(m, device_ids=[c.gpu])",
            "m = torch.nn.parallel.DistributedDataParallel(m, device_ids=accel.device_ids(c.gpu))",
        ),
        (
            "import torch.nn as nn\nm = nn.parallel.DistributedDataParallel(m, [rank], rank)\n",
            "import torch.nn as nn\nm = nn.parallel.DistributedDataParallel("
            "m, accel.device_ids(rank), accel.device_id(rank))\n",
        ),
        (
            "import torch.nn as nn\nm = nn.parallel.DistributedDataParallel(m, [r], 'cuda:1')\n",
            "import torch.nn as nn\nm = nn.parallel.DistributedDataParallel("
            "m, accel.device_ids(r), accel.device_id(str(accel.torch_device(1))))\n",
        ),
        (
            "m = MMDistributedDataParallel(m, device_ids=[torch.cuda.current_device()])",
            "m = MMDistributedDataParallel(m, device_ids=accel.device_ids(accel.current_device()))",
        ),
        (
            'm = DDP(m, device_ids=[int(os.environ["LOCAL_RANK"])])',
            'm = DDP(m, device_ids=accel.device_ids(int(os.environ["LOCAL_RANK"])))',
        ),
        (
            "m = DDP(m, device_ids=[rank] if use_cuda else None)",
            "m = DDP(m, device_ids=accel.device_ids(rank) if use_cuda else None)",
        ),
        (
            "import functools\nwrap = functools.partial(DDP, device_ids=[r])\n",
            "import functools\nwrap = functools.partial(DDP, device_ids=accel.device_ids(r))\n",
        ),
        (
            "m = DDP(\n    m,\n    device_ids=[rank],  # one each\n)",
            "m = DDP(\n    m,\n    device_ids=accel.device_ids(rank),  # one each\n)",
        ),
    ],
    manual=[
        "m = DDP(m, device_ids=device_ids)",
        "m = DDP(m, device_ids=[0, 1])",
        "m = DDP(m, device_ids=list(range(n)), output_device=0)",
        "m = build_ddp(m, device_ids=[rank])",
        "kw = {'device_ids': [rank]}  # CUDA\nm = DDP(m, **kw)",
        "m = DDP(m, **dict(device_ids=[rank], output_device=rank))",
        "m = DDP(m, **{'device_ids': [rank], 'output_device': rank} if n > 1 else {})  # CUDA",
    ],
    valid=[
        "m = DDP(m)",
        "kw = {'device_ids': None}  # CUDA\nm = DDP(m, **kw)",
        "parser.add_argument('--device_ids', default=[0])  # CUDA",
        "m = DDP(m, device_ids=None, output_device=None)",
        "isinstance(m, torch.nn.parallel.DistributedDataParallel)",
        "class D(torch.nn.parallel.DistributedDataParallel): ...",
    ],
)
def ddp(original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context) -> Outcome:
    """Give DistributedDataParallel the process's device, or None on the CPU.

    `accel.device_ids(rank)` is `[rank]` and `accel.device_id(rank)` is `rank` wherever there is an
    accelerator, so that on CUDA the arguments are the same; on the CPU, whose modules take neither,
    both are None. Subclasses (`MMDistributedDataParallel`) count as well.

    Devices that come from elsewhere, or are several, stay: pass `accel.device_ids(rank)`. So do
    those in a dict of arguments.
    """
    if isinstance(original, cst.Dict):
        return _in_dict(original)
    assert isinstance(original, cst.Call)
    assert isinstance(updated, cst.Call)
    callee, start = called(original, ctx)
    last = callee.rpartition(".")[2]
    wraps = last == "DDP" or last.endswith("DistributedDataParallel")
    if not wraps:
        return _other_function(original, callee, ctx)
    changed = updated
    ids = argument(original, "device_ids", start + 1)
    if ids is not None:
        index = original.args.index(ids)
        value = ported_ids(ids.value, updated.args[index].value, ctx)
        if value is None:
            return _left(callee, ctx)
        changed = with_value(changed, index, value)
    output = argument(original, "output_device", start + 2)
    if output is not None:
        index = original.args.index(output)
        changed = with_value(changed, index, ported_id(updated.args[index].value, ctx))
    return None if changed.deep_equals(updated) else changed


def _in_dict(arguments: cst.Dict) -> Manual | None:
    """Report `{"device_ids": [rank]}`, which is handed on as `**arguments`."""
    lists = (
        string_value(e.key)
        for e in arguments.elements
        if isinstance(e, cst.DictElement) and isinstance(e.value, cst.List)
    )
    return _ARGUMENTS if "device_ids" in lists else None


def _other_function(original: cst.Call, callee: str, ctx: Context) -> Outcome:
    """Report a literal `device_ids=[rank]` for a function that isn't known."""
    last = callee.rpartition(".")[2]
    ids = argument(original, "device_ids", None)
    if ids is None or last.endswith(_ELSEWHERE) or not isinstance(ids.value, cst.List):
        return None
    return _ARGUMENTS if callee == "builtins.dict" else _left(last, ctx)


def _left(callee: str, ctx: Context) -> Manual:
    return Manual(
        f"the devices that `{callee.removeprefix('?.')}` gets have to be None on the CPU, and it "
        "is not in sight that they are: pass `device_ids=accel.device_ids(rank)` and "
        "`output_device=accel.device_id(rank)`",
        whole=False,
    )
