"""Attention kernels of CUDA that options ask for."""

from __future__ import annotations

import re

from porter.configs.rule import Answer, Manual, config_rule
from porter.configs.subjects import Setting

_SWITCH = re.compile(
    r"(?:use_|enable_|with_)?flash(?:_?attn|_?attention)?(?:_?v?[23])?"
    r"|flash_attn_(?:cross_entropy|rms_norm|fuse_mlp|fuse_qkv)"
    r"|(?:use_|enable_)?xformers(?:_memory_efficient)?(?:_attention)?"
    r"|(?:use_)?mem(?:ory)?_eff(?:icient)?_attention"
)
_AXOLOTL = frozenset({"flash_attention", "s2_attention", "sdp_attention", "xformers_attention"})
_IMPLEMENTATION = re.compile(
    r"_?(?:.*_)?(?:attn|attention)(?:_(?:implementation|impl|backend|type|mode))?"
)
_VALUE = re.compile(
    r"flash(?:_?attn|_?attention)?(?:_?[23])?|fa[23]|(?:\w+-)?xformers", re.IGNORECASE
)
_ELSE = frozenset({"auto", "disabled", "eager", "math", "sdpa", "torch"})


@config_rule(
    "PTR806",
    on=Setting,
    manual=[
        ("lora.yml", "flash_attention: true\n"),
        ("lora.yml", "s2_attention: true\n"),
        ("lora.yml", "xformers_attention: true\n"),
        ("lora.yml", "sdp_attention: true\n"),
        ("lora.yml", "flash_attn_rms_norm: true\n"),
        ("sft.yaml", "model:\n  attn_implementation: flash_attention_2\n"),
        ("sft.yaml", "flash_attn: fa2\n"),
        ("config.json", '{"_attn_implementation": "flash_attention_2"}\n'),
        ("sd.yaml", "ddconfig:\n  attn_type: vanilla-xformers\n"),
        ("train.toml", "xformers = true\n"),
        ("train.sh", "accelerate launch train.py --enable_xformers_memory_efficient_attention\n"),
        ("train.sh", "python sft.py --attn_implementation flash_attention_2\n"),
        ("train.sh", "python pretrain_gpt.py --use-flash-attn\n"),
    ],
    valid=[
        ("lora.yml", "flash_attention:\nxformers_attention: false\n"),
        ("sft.yaml", "attn_implementation: sdpa  # flash_attention_2\n"),
        ("sft.yaml", "flash_attn: auto\n"),
        ("sft.yaml", "description: uses flash_attention\n"),
        ("train.yaml", "attention: full\nflash: {}\n"),
    ],
)
def config_attention(setting: Setting) -> Answer:
    """Point out options that ask for CUDA's attention kernels: flash, s2, xformers, sdp.

    The packages flash_attn and xformers are CUDA's, and so are the fused kernels behind other
    switches. An NPU runs the eager form, and with a torch_npu and a transformers that know each
    other the fused one behind `sdpa`. The option stays, since on CUDA it is what the author
    wants: use the one that the message names in a copy of the file for Ascend. axolotl refuses
    flash, s2 and sdp attention on an NPU by itself, from 0.6.0 on.
    """
    written = setting.written
    if setting.key in _AXOLOTL and setting.is_on and setting.value.lower() not in _ELSE:
        return Manual(
            f"{written} asks for attention kernels that are CUDA's: use eager_attention: true in "
            "a copy for Ascend"
        )
    value = setting.value.strip()
    if _IMPLEMENTATION.fullmatch(setting.key) and _VALUE.fullmatch(value):
        return Manual(
            f'{written}: "{value}" asks for a package of CUDA\'s kernels: use "sdpa", or "eager", '
            "in a copy for Ascend"
        )
    if _SWITCH.fullmatch(setting.key) and setting.is_on and value.lower() not in _ELSE:
        return Manual(
            f"{written} asks for attention kernels that are CUDA's: leave it out in a copy for "
            "Ascend, where torch's own attention is used then"
        )
    return None
