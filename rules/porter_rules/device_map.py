"""Hugging Face's device_map."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, Role, rule
from porter_rules.device_names import is_device_expression
from porter_rules.device_strings import SPELLINGS, device_string
from porter_rules.names import is_call
from porter_rules.nodes import is_runtime
from porter_rules.ranks import is_rank

_NAME = "device_map"
_VALUE = "device_map_value"


@rule(
    "PTR703",
    on=(cst.Call, cst.Dict, cst.DictComp, *SPELLINGS),
    needs=(),
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
            'a = M.from_pretrained("x", device_map={"": accel.device_map_value(0)})\n',
        ),
        (
            'a = M.from_pretrained("x", device_map={"": local_rank})\n',
            'a = M.from_pretrained("x", device_map={"": accel.device_map_value(local_rank)})\n',
        ),
        (
            'a = M.from_pretrained("x", device_map={"": state.process_index})\n',
            'a = M.from_pretrained("x", '
            'device_map={"": accel.device_map_value(state.process_index)})\n',
        ),
        (
            'a = M.from_pretrained("x", device_map={"a": "cuda:1", "b": 0, "c": "cpu"})\n',
            'a = M.from_pretrained("x", device_map={"a": str(accel.torch_device(1)), '
            '"b": accel.device_map_value(0), "c": "cpu"})\n',
        ),
        (
            'a = M.from_pretrained("x", device_map={"": "cuda:%d" % i})\n',
            'a = M.from_pretrained("x", device_map={"": str(accel.torch_device(i))})\n',
        ),
        (
            "import torch\n"
            'a = M.from_pretrained("x", device_map={"": torch.cuda.current_device()})\n'
            'b = M.from_pretrained("x", device_map=torch.cuda.current_device())\n',
            "import torch\n"
            'a = M.from_pretrained("x", '
            'device_map={"": accel.device_map_value(accel.current_device())})\n'
            'b = M.from_pretrained("x", '
            "device_map=accel.device_map_value(accel.current_device()))\n",
        ),
        (
            'import os\ncfg.device_map = {"": int(os.environ.get("LOCAL_RANK", 0))}  # CUDA\n',
            'import os\ncfg.device_map = {"": accel.device_map_value('
            'int(os.environ.get("LOCAL_RANK", 0)))}  # CUDA\n',
        ),
        (
            "import os\n"
            'm = M.from_pretrained("x", device_map={"": int(os.environ.get("LOCAL_RANK") or 0)})\n',
            "import os\n"
            'm = M.from_pretrained("x", device_map={"": accel.device_map_value('
            'int(os.environ.get("LOCAL_RANK") or 0))})\n',
        ),
        (
            'a = pipeline("x", device_map=0)\n',
            'a = pipeline("x", device_map=accel.device_map_value(0))\n',
        ),
    ],
    manual=[
        'm = M.from_pretrained("x", device_map={"": index})\n',
        'm = M.from_pretrained("x", device_map={"": cfg.place, "head": 0})\n',
        'm = M.from_pretrained("x", device_map={"": pick(0)})\n',
        'm = M.from_pretrained("x", device_map={f"layer.{i}": i % 2 for i in range(4)})\n',
    ],
    valid=[
        'b = M.from_pretrained("x", device_map="auto")\n',
        'b = M.from_pretrained("x", device_map={"": "cpu"})\n',
        'b = M.from_pretrained("x", device_map=device_map)\n',
        'b = M.from_pretrained("x", max_memory={0: "1GB"}, device_map="balanced")\n',
        'b = M.from_pretrained("x", device_map={"": model.device, "head": "disk"})\n',
        'b = M.from_pretrained("x", device_map={"": str(device), "a": None, **others})\n',
        'b = M.from_pretrained("x", device_map={"": device_map})\n',
        'b = M.from_pretrained("x", device_map={k: "cpu" for k in names})\n',
        'b = M.from_pretrained("x", device_map={k: v for k, v in device_map.items()})\n',
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
    `{"": torch.cuda.current_device()}` become `accel.device_map_value(...)`: the device's name, but
    on CUDA the index as before, since transformers' Trainer, and accelerate for a model in 8 bit,
    compare it with the index of the device that they train on.
    "auto", "balanced" and their kin stay: accelerate spreads over the devices that it finds.

    A map with a value of which it can't be seen whether it is an index or a device is left.
    """
    match original, updated:
        case cst.Call(), cst.Call() if not _means_map(ctx.role(original)):
            return _argument(original, updated, ctx)
        case cst.Dict(), cst.Dict() if _means_map(ctx.role(original)):
            return _entries(original, updated, ctx)
        case cst.DictComp(value=value), cst.DictComp() if _means_map(ctx.role(original)):
            return None if _is_known(value, ctx) or _is_copied(original) else _unknown(value)
    role = ctx.role(original)
    in_map = role.kind == "value" and role.outer is not None and _means_map(role.outer)
    if not in_map and not _means_map(role):
        return None
    device = device_string(updated, ctx)
    return None if device is None else device.as_text(ctx)


def _means_map(role: Role) -> bool:
    return role.name == _NAME and role.kind in ("keyword", "assign", "default", "value", "return")


def _argument(original: cst.Call, updated: cst.Call, ctx: Context) -> Outcome:
    """Port an index that is the whole map."""
    args = list(updated.args)
    for index, arg in enumerate(original.args):
        if arg.keyword is not None and arg.keyword.value == _NAME and _is_index(arg.value, ctx):
            value = ctx.runtime_call(_VALUE, args[index].value)
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
        if _is_index(element.value, ctx):
            elements[index] = now.with_changes(value=ctx.runtime_call(_VALUE, now.value))
            changed = True
        elif not _is_known(element.value, ctx):
            return _unknown(element.value)
    return updated.with_changes(elements=elements) if changed else None


def _is_index(value: cst.BaseExpression, ctx: Context) -> bool:
    return (
        isinstance(value, cst.Integer)
        or is_call(value, "current_device", ctx)
        or is_rank(value, ctx)
    )


def _unknown(value: cst.BaseExpression) -> Manual:
    text = " ".join(cst.Module([]).code_for_node(value).split())
    return Manual(
        f"`{text}` in a device_map may be the index of a CUDA device, which means nothing without "
        "one: write `accel.device_map_value(...)` of an index, or call it a device"
    )


def _is_known(value: cst.BaseExpression, ctx: Context) -> bool:
    """Whether a map's value is no index: a text, None, or something that is called a device."""
    match value:
        case cst.BaseString() | cst.Name(value="None" | "device_map"):
            return True
        case cst.IfExp(body=body, orelse=orelse):
            return _is_known(body, ctx) and _is_known(orelse, ctx)
    ported = is_runtime(value, ctx) or device_string(value, ctx) is not None
    return ported or is_device_expression(value, ctx)


def _is_copied(comprehension: cst.DictComp) -> bool:
    """Whether the values are those of another dict, gone through by its items."""
    match comprehension.for_in:
        case cst.CompFor(iter=cst.Call(func=cst.Attribute(attr=cst.Name(value="items")))):
            return True
    return False
