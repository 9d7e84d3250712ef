"""Hugging Face's device_map."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Outcome, Role, rule
from porter_rules.device_strings import SPELLINGS, device_string
from porter_rules.nodes import string_value
from porter_rules.ranks import is_rank

_NAME = "device_map"


@rule(
    "PTR703",
    on=(cst.Call, cst.Dict, *SPELLINGS),
    rewrites=[
        (
            'a = M.from_pretrained("x", device_map="cuda")\n',
            'a = M.from_pretrained("x", device_map=accel.device_type)\n',
        ),
        (
            'a = M.from_pretrained("x", device_map="cuda:1")\n',
            'a = M.from_pretrained("x", device_map=str(accel.torch_device(1)))\n',
        ),
        (
            'a = M.from_pretrained("x", device_map=f"cuda:{rank}")\n',
            'a = M.from_pretrained("x", device_map=str(accel.torch_device(rank)))\n',
        ),
        (
            'a = M.from_pretrained("x", device_map={"": 0})\n',
            'a = M.from_pretrained("x", device_map={"": accel.device_type})\n',
        ),
        (
            'a = M.from_pretrained("x", device_map={"": local_rank})\n',
            'a = M.from_pretrained("x", device_map={"": str(accel.torch_device(local_rank))})\n',
        ),
        (
            'a = M.from_pretrained("x", device_map={"": state.process_index})\n',
            'a = M.from_pretrained("x", '
            'device_map={"": str(accel.torch_device(state.process_index))})\n',
        ),
        (
            'a = M.from_pretrained("x", device_map={"a": "cuda:1", "b": 0, "c": "cpu"})\n',
            'a = M.from_pretrained("x", device_map={"a": str(accel.torch_device(1)), '
            '"b": str(accel.torch_device(0)), "c": "cpu"})\n',
        ),
        (
            "import torch\n"
            'a = M.from_pretrained("x", device_map={"": torch.cuda.current_device()})\n'
            'b = M.from_pretrained("x", device_map=torch.cuda.current_device())\n',
            'import torch\na = M.from_pretrained("x", device_map={"": accel.device_type})\n'
            'b = M.from_pretrained("x", device_map=accel.device_type)\n',
        ),
        (
            'import os\ncfg.device_map = {"": int(os.environ.get("LOCAL_RANK", 0))}  # CUDA\n',
            'import os\ncfg.device_map = {"": str(accel.torch_device('
            'int(os.environ.get("LOCAL_RANK", 0))))}  # CUDA\n',
        ),
        (
            "import os\n"
            'm = M.from_pretrained("x", device_map={"": int(os.environ.get("LOCAL_RANK") or 0)})\n',
            "import os\n"
            'm = M.from_pretrained("x", device_map={"": str(accel.torch_device('
            'int(os.environ.get("LOCAL_RANK") or 0)))})\n',
        ),
        ('a = pipeline("x", device_map=0)\n', 'a = pipeline("x", device_map=accel.device_type)\n'),
    ],
    valid=[
        'b = M.from_pretrained("x", device_map="auto")\n',
        'b = M.from_pretrained("x", device_map={"": "cpu"})\n',
        'b = M.from_pretrained("x", device_map=device_map)\n',
        'b = M.from_pretrained("x", max_memory={0: "1GB"}, device_map="balanced")\n',
    ],
)
def device_map(
    original: cst.Call | cst.Dict | cst.BaseExpression,
    updated: cst.Call | cst.Dict | cst.BaseExpression,
    ctx: Context,
) -> Outcome:
    """Name this machine's device in Hugging Face's `device_map`.

    `device_map="cuda"` becomes `accel.device_type`, "cuda:1" and the like
    `str(accel.torch_device(1))`. Integers count as CUDA's devices in many versions of accelerate
    and transformers, and as nothing without an accelerator, so `{"": 0}`, `{"": rank}` and
    `{"": torch.cuda.current_device()}` get a device's name as well: the same device on CUDA.
    "auto", "balanced" and their kin stay: accelerate spreads over the devices that it finds.
    """
    match original, updated:
        case cst.Call(), cst.Call() if not _means_map(ctx.role(original)):
            return _argument(original, updated, ctx)
        case cst.Dict(), cst.Dict() if _means_map(ctx.role(original)):
            return _entries(original, updated, ctx)
    role = ctx.role(original)
    in_map = role.kind == "value" and role.outer is not None and _means_map(role.outer)
    if not in_map and not _means_map(role):
        return None
    device = device_string(original, ctx)
    return None if device is None else device.as_text(ctx)


def _means_map(role: Role) -> bool:
    return role.name == _NAME and role.kind in ("keyword", "assign", "default", "value", "return")


def _argument(original: cst.Call, updated: cst.Call, ctx: Context) -> Outcome:
    """Port an index that is the whole map."""
    args = list(updated.args)
    for index, arg in enumerate(original.args):
        if arg.keyword is None or arg.keyword.value != _NAME:
            continue
        value = _device(arg.value, args[index].value, whole=True, ctx=ctx)
        if value is not None:
            args[index] = args[index].with_changes(value=value)
            return updated.with_changes(args=args)
    return None


def _entries(original: cst.Dict, updated: cst.Dict, ctx: Context) -> Outcome:
    """Port the indices among a map's values; strings are ported where they stand."""
    elements = list(updated.elements)
    changed = False
    for index, element in enumerate(original.elements):
        now = elements[index]
        if not isinstance(element, cst.DictElement) or not isinstance(now, cst.DictElement):
            continue
        whole = string_value(element.key) == ""
        value = _device(element.value, now.value, whole=whole, ctx=ctx)
        if value is not None:
            elements[index] = now.with_changes(value=value)
            changed = True
    return updated.with_changes(elements=elements) if changed else None


def _device(
    original: cst.BaseExpression, updated: cst.BaseExpression, *, whole: bool, ctx: Context
) -> cst.BaseExpression | None:
    """Return the name of the device that an index means, None for anything else.

    `whole` says that it is the place of the whole model: device 0 is the process's own then.
    """
    match original:
        case cst.Integer(value="0") if whole:
            return ctx.runtime("device_type")
        case cst.Call() if ctx.callee(original) == "torch.cuda.current_device":
            return ctx.runtime("device_type")
        case cst.Integer():
            pass
        case _ if not is_rank(original, ctx):
            return None
    return cst.Call(cst.Name("str"), [cst.Arg(ctx.runtime_call("torch_device", updated))])
