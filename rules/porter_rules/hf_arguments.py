"""Arguments of Hugging Face's libraries that need CUDA's kernels."""

from __future__ import annotations

import re

import libcst as cst

from porter.rule import Context, Manual, Note, Outcome, rule
from porter_rules.nodes import argument, string_value

_QUANTISED = ("load_in_8bit", "load_in_4bit")
_OPTIMIZER = re.compile(r"(?:paged_)?[a-z]+_(?:(?:bnb_)?8bit|32bit|apex_fused)|paged_[a-z_0-9]+")
_ATTENTION = re.compile(r"flash_attention_[23]")
_PLACES = ("keyword", "argument", "assign", "value", "default")

_WHY_QUANTISED = (
    "{name} loads with bitsandbytes, whose kernels are CUDA's: load in bf16 on other devices, "
    "or check that your bitsandbytes supports Ascend"
)
_WHY_ATTENTION = (
    '"{name}" needs the flash_attn package, which is CUDA\'s: take "sdpa" where accel.device_type '
    'is not "cuda" (recent transformers map it to torch_npu\'s fused attention on Ascend)'
)
_WHY_OPTIMIZER = (
    'the optimizer "{name}" needs bitsandbytes or apex, whose kernels are CUDA\'s: take '
    '"adamw_torch" on other devices'
)
_WHY_TF32 = (
    "tf32=True is refused by transformers where TF32 is missing, so also on an NPU: pass it only "
    'where accel.device_type is "cuda"'
)


@rule(
    "PTR704",
    on=(cst.Call, cst.SimpleString),
    needs=(),
    manual=[
        'm = AutoModel.from_pretrained("x", load_in_8bit=True)\n',
        'kwargs = {"load_in_8bit": True}\n',
        "c = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_use_double_quant=True)\n",
        'm = AutoModel.from_pretrained("x", attn_implementation="flash_attention_2")\n',
        'kwargs["attn_implementation"] = "flash_attention_2"\n',
        'm = AutoModel.from_pretrained("x", use_flash_attention_2=True)\n',
        'a = TrainingArguments(out, optim="adamw_bnb_8bit")\n',
        'a = TrainingArguments(out, optim="paged_adamw_8bit")\n',
        'a = TrainingArguments(out, optim="adamw_apex_fused")\n',
        "a = TrainingArguments(out, tf32=True)\n",
    ],
    notes=[
        'm = AutoModel.from_pretrained("x", load_in_8bit=args.load_in_8bit)\n',
        'kwargs["load_in_8bit"] = args.load_in_8bit\n',
        'kwargs = {"load_in_4bit": args.load_in_4bit}\n',
        "a = TrainingArguments(out, no_cuda=args.cpu)\n",
        "a = TrainingArguments(out, tf32=args.tf32)\n",
    ],
    valid=[
        'm = AutoModel.from_pretrained("x", load_in_8bit=False)\n',
        'kwargs = {"load_in_8bit": False}\n',
        'if kwargs["load_in_8bit"] or kwargs.pop("load_in_4bit", False):\n    pass\n',
        'm = AutoModel.from_pretrained("x", attn_implementation="sdpa")\n',
        'if config._attn_implementation == "flash_attention_2":\n    pass\n',
        'CLASSES["flash_attention_2"] = FlashAttention\n',
        'a = TrainingArguments(out, optim="adamw_torch")  # cuda\n',
        "a = TrainingArguments(out, tf32=False)\n",
        'print("flash_attention_2")\n',
        'raise ValueError("load_in_8bit=True needs bitsandbytes")\n',
    ],
)
def hf_arguments(
    original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context
) -> Outcome:
    """Point out arguments that ask for CUDA-only kernels, by their names.

    Quantised loading (`load_in_8bit`, `load_in_4bit`), `attn_implementation="flash_attention_2"`,
    optimizers from bitsandbytes and apex, and `tf32=True` fail on an NPU. They are left, as the
    right replacement depends on the model and the versions. Where a variable decides, a note
    says so; False and None are not mentioned. `no_cuda` stays: it means "on the CPU" in
    transformers, whatever the accelerator.
    """
    if isinstance(original, cst.SimpleString):
        return _string(original, ctx)
    assert isinstance(original, cst.Call)
    name = ctx.callee(original).rpartition(".")[2]
    for keyword in _QUANTISED:
        outcome = _quantised(keyword, _state(original, keyword))
        if outcome is not None:
            return outcome
    if _state(original, "use_flash_attention_2") == "on":
        return Manual(_WHY_ATTENTION.format(name="use_flash_attention_2"), whole=False)
    if not name.endswith("Arguments") and not name.endswith("Config"):
        return None
    tf32 = _state(original, "tf32")
    if tf32 == "on":
        return Manual(_WHY_TF32, whole=False)
    if tf32 == "variable":
        return Note("where tf32 is on, transformers refuses to run without TF32, as on an NPU")
    if argument(original, "no_cuda", None) is not None:
        return Note("no_cuda means the CPU to transformers, whatever the accelerator: it stays")
    return None


def _state(call: cst.Call, keyword: str) -> str:
    """Return "on" for True, "variable" where something else decides, "" for False or absent."""
    arg = argument(call, keyword, None)
    return "" if arg is None else _state_of(arg.value)


def _state_of(value: cst.BaseExpression) -> str:
    if not isinstance(value, cst.Name) or value.value not in ("True", "False", "None"):
        return "variable"
    return "on" if value.value == "True" else ""


def _quantised(name: str, state: str) -> Outcome:
    if state == "on":
        return Manual(_WHY_QUANTISED.format(name=f"{name}=True"), whole=False)
    if state == "variable":
        return Note(f"where {name} is on, bitsandbytes is needed, whose kernels are CUDA's")
    return None


def _string(original: cst.SimpleString, ctx: Context) -> Outcome:
    text = string_value(original) or ""
    role = ctx.role(original)
    if text in _QUANTISED and isinstance(ctx.parent, cst.DictElement) and role.kind == "key":
        return _quantised(text, _state_of(ctx.parent.value))
    if text in _QUANTISED and role.kind == "index" and not ctx.stack:
        return _quantised(text, "variable")  # `options["load_in_8bit"] = ...`
    if role.kind not in _PLACES:
        return None
    if _ATTENTION.fullmatch(text) and role.callee.rpartition(".")[2] not in ("print", "get"):
        return Manual(_WHY_ATTENTION.format(name=text))
    if role.name == "optim" and _OPTIMIZER.fullmatch(text):
        return Manual(_WHY_OPTIMIZER.format(name=text))
    return None
