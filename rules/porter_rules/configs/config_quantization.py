"""Quantised loading that options ask for."""

from __future__ import annotations

import re

from porter.configs.rule import Answer, Manual, config_rule
from porter.configs.subjects import Setting

_SWITCH = re.compile(r"(?:load_in_|load_|use_)[48]bit(?:_quant\w*)?|gptq|quantization_bit")
_METHOD = re.compile(r"(?:quant|quantization|quantize)(?:_method|_type|_backend)?")
_METHODS = re.compile(r"(?:bitsandbytes|bnb|gptq|awq|eetq)(?:\W.*|_.*)?", re.IGNORECASE)


@config_rule(
    "PTR807",
    on=Setting,
    manual=[
        ("lora.yml", "load_in_8bit: true\n"),
        ("qlora.yml", "load_in_4bit: True\n"),
        ("qlora.yml", "adapter: qlora\n"),
        ("sft.yaml", "quantization_bit: 4\n"),
        ("sft.yaml", "quantization_method: bitsandbytes\n"),
        ("config.json", '{"quantization_config": {"quant_method": "gptq", "bits": 4}}\n'),
        ("train.sh", "python train.py --load_in_8bit True --lora_r 8\n"),
    ],
    valid=[
        ("lora.yml", "load_in_8bit: false\nload_in_4bit:\n"),
        ("lora.yml", "adapter: lora  # not qlora\n"),
        ("sft.yaml", "name: load_in_8bit\n"),
    ],
)
def config_quantization(setting: Setting) -> Answer:
    """Point out options that load weights in 8 or 4 bits.

    bitsandbytes and the packages of GPTQ, AWQ and EETQ bring CUDA's kernels, and transformers
    loads with them as soon as the option is on. Nothing is switched off here: with the option
    off, a model takes two to four times the memory, which is for a person to weigh. Use bf16
    weights in a copy of the file for Ascend (`load_in_8bit: false`, `adapter: lora`), or check
    that the installed bitsandbytes supports Ascend.
    """
    written = setting.written
    value = setting.value.strip()
    if setting.key == "adapter" and value == "qlora":
        return Manual(
            "adapter: qlora trains on 4-bit weights of bitsandbytes, whose kernels are CUDA's: use "
            "adapter: lora, with bf16 weights, in a copy for Ascend"
        )
    if _METHOD.fullmatch(setting.key) and _METHODS.fullmatch(value):
        return Manual(
            f'{written}: "{value}" needs kernels that are CUDA\'s: use unquantised weights in bf16 '
            "in a copy for Ascend"
        )
    if _SWITCH.fullmatch(setting.key) and setting.is_on:
        off = "leave it out" if setting.key == "quantization_bit" else f"write {written}: false"
        return Manual(
            f"{written} loads with quantised kernels that are CUDA's: {off} in a copy for Ascend, "
            "and load in bf16"
        )
    return None
