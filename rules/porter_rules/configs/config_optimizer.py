"""Optimizers with CUDA's kernels that options ask for."""

from __future__ import annotations

import re

from porter.configs.rule import Answer, Manual, config_rule
from porter.configs.subjects import Setting

_KEY = re.compile(r"(?:.*_)?(?:optim|optimizer|optimiser)(?:_name|_type|_cls)?")
_BITS = re.compile(
    r"(?:paged_)?(?!ao_)[a-z0-9]+_(?:bnb_)?(?:8bit|32bit)|[a-z]+_bnb|[a-z]+_apex_fused|paged_\w+"
    r"|(?:Paged)?[A-Z][A-Za-z]+(?:8|32)bit|(?:fused_?)(?:adam|lamb|sgd)"
)
_COMPILED = re.compile(r"ao_\w+_(?:4bit|8bit|fp8)")
_ONE_BIT = frozenset({"OneBitAdam", "OneBitLamb", "ZeroOneAdam"})
_SWITCH = re.compile(r"(?:use_)?(?:8bit_adamw?|bnb_optim(?:izer)?|apex_(?:optim|optimizer))")


@config_rule(
    "PTR808",
    on=Setting,
    manual=[
        ("lora.yml", "optimizer: adamw_bnb_8bit\n"),
        ("qlora.yml", "optimizer: paged_adamw_32bit\n"),
        ("sft.yaml", "training:\n  optim: adamw_8bit\n"),
        ("lora.yml", "optimizer: ao_adamw_4bit\n"),
        ("train.toml", 'optimizer_type = "AdamW8bit"\n'),
        ("ds.json", '{"optimizer": {"type": "OneBitAdam"}}\n'),
        ("train.sh", "accelerate launch train.py --use_8bit_adam --lr 1e-4\n"),
        ("train.sh", "python sft.py --optim adamw_apex_fused\n"),
    ],
    valid=[
        ("lora.yml", "optimizer: adamw_torch  # not adamw_bnb_8bit\n"),
        ("ds.json", '{"optimizer": {"type": "AdamW"}, "x": "OneBit"}\n'),
    ],
)
def config_optimizer(setting: Setting) -> Answer:
    """Point out optimizers of bitsandbytes, apex and torchao, by their names in options.

    `adamw_bnb_8bit`, `paged_adamw_32bit`, `adamw_apex_fused` and their like need packages whose
    kernels are CUDA's; DeepSpeed's 1-bit optimizers need cupy and NCCL; torchao's low-bit ones
    (`ao_adamw_8bit`) are compiled by torch.compile, and axolotl refuses them on an NPU with all
    others that have "bit" in their names, from 0.6.0 on. The name is left, as the memory that
    they save on CUDA is meant: use `adamw_torch` in a copy of the file for Ascend.
    """
    written, value = setting.written, setting.value.strip()
    typed = setting.key == "type" and len(setting.keys) > 1 and _KEY.fullmatch(setting.keys[-2])
    if typed and value in _ONE_BIT:
        return Manual(
            f'the optimizer "{value}" needs cupy and NCCL, which are CUDA\'s: use "AdamW" in a '
            "copy for Ascend"
        )
    if _KEY.fullmatch(setting.key) and _COMPILED.fullmatch(value):
        return Manual(
            f'{written}: "{value}" is compiled by torch.compile, and axolotl refuses it on an NPU: '
            "use adamw_torch in a copy for Ascend"
        )
    if (typed or _KEY.fullmatch(setting.key)) and _BITS.fullmatch(value):
        return Manual(
            f'{written}: "{value}" needs bitsandbytes or apex, whose kernels are CUDA\'s: use '
            "adamw_torch, or the plain optimizer of that name, in a copy for Ascend"
        )
    if _SWITCH.fullmatch(setting.key) and setting.is_on:
        return Manual(
            f"{written} asks for an optimizer whose kernels are CUDA's: leave it out in a copy for "
            "Ascend, which then takes torch's own"
        )
    return None
