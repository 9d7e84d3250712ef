"""Precisions that only NVIDIA's devices have."""

from __future__ import annotations

import re

from porter.configs.rule import Answer, Manual, Note, config_rule
from porter.configs.subjects import Setting

_FP8 = re.compile(r"fp8|transformer-engine(?:-float16)?", re.IGNORECASE)
_KEY = re.compile(r"(?:.*_)?(?:precision|mixed_precision|fp8(?:_format|_recipe)?|dtype)")


@config_rule(
    "PTR809",
    on=Setting,
    manual=[
        ("lora.yml", "tf32: true\n"),
        ("sft.yaml", "training_args:\n  tf32: True\n"),
        ("accelerate.yaml", "mixed_precision: fp8\n"),
        ("trainer.yaml", "trainer: {precision: transformer-engine}\n"),
        ("train.sh", "python sft.py --tf32 True --bf16 True\n"),
    ],
    notes=[("train.yaml", "allow_tf32: true\n"), ("train.sh", "python train.py --allow_tf32\n")],
    valid=[
        ("lora.yml", "tf32: false\nbf16: true\n"),
        ("lora.yml", "tf32:\n"),
        ("accelerate.yaml", "mixed_precision: bf16  # fp8\n"),
    ],
)
def config_precision(setting: Setting) -> Answer:
    """Point out TF32 and FP8, which are formats of NVIDIA's devices.

    transformers refuses `tf32: true` where TF32 is missing, so also on an NPU; axolotl likewise.
    It stays for CUDA, where it changes speed and results: write `tf32: false` in a copy of the
    file for Ascend. `mixed_precision: fp8` needs transformer_engine or MS-AMP: use bf16 there.
    `allow_tf32` only sets a flag of torch that nothing reads off CUDA; it is noted.
    """
    value = setting.value.strip()
    if setting.key == "tf32" and setting.is_on:
        return Manual(
            "tf32 is refused where TF32 is missing, so also on an NPU: write tf32: false in a copy "
            "for Ascend"
        )
    if re.fullmatch(r"(?:\w+_)?allow_tf32", setting.key) and setting.is_on:
        return Note("allow_tf32 sets a flag of torch that is heeded on CUDA alone")
    if _KEY.fullmatch(setting.key) and _FP8.fullmatch(value):
        return Manual(
            f"{setting.written}: {value} needs transformer_engine, whose kernels are CUDA's: use "
            "bf16 in a copy for Ascend"
        )
    return None
