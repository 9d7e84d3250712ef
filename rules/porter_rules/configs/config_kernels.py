"""Kernels of apex, liger and unsloth that options switch on."""

from __future__ import annotations

import re

from porter.configs.rule import Answer, Manual, config_rule
from porter.configs.subjects import Setting

_SWITCH = re.compile(r"(?:use_)?(?:liger(?:_kernel)?|apex)(?:_\w+)?|(?:use_)?unsloth(?:_\w+)?")
_BACKEND = re.compile(r"(?:fp16|half_precision|amp)_backend|amp_type")


@config_rule(
    "PTR810",
    on=Setting,
    manual=[
        ("lora.yml", "liger_rms_norm: true\n"),
        ("lora.yml", "unsloth_lora_mlp: true\n"),
        ("lora.yml", "plugins:\n  - axolotl.integrations.liger.LigerPlugin\n"),
        ("sft.yaml", "use_liger_kernel: true\n"),
        ("train.yaml", "half_precision_backend: apex\n"),
        ("train.sh", "python train.py --use_apex --lr 0.1\n"),
    ],
    valid=[
        ("lora.yml", "liger_rms_norm: false\n"),
        ("lora.yml", "gradient_checkpointing: unsloth\n"),
        ("train.yaml", "apex: {url: x}\nhost: apex.example.com\n"),
    ],
)
def config_kernels(setting: Setting) -> Answer:
    """Point out options that switch on kernels of apex, liger or unsloth.

    Liger's and unsloth's kernels are written in Triton, apex's in CUDA. They stay for CUDA; leave
    them out in a copy of the file for Ascend, where triton-ascend and Ascend's own build of apex
    are worth a try. `gradient_checkpointing: unsloth` only moves activations to the host, which
    ported code does on every device, and is not reported.
    """
    value = setting.value.strip()
    if _BACKEND.fullmatch(setting.key) and value == "apex":
        return _by_hand(f"{setting.written}: apex")
    if value.endswith(".LigerPlugin"):
        return _by_hand(f'the plugin "{value}"')
    if _SWITCH.fullmatch(setting.key) and value.lower() in ("true", "yes", "on", "1"):
        return _by_hand(setting.written)
    return None


def _by_hand(what: str) -> Manual:
    return Manual(
        f"{what} asks for kernels that are CUDA's: leave it out in a copy for Ascend, where "
        "torch's own operators are used then"
    )
