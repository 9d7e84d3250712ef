"""NVIDIA's command line tool."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, rule
from porter_rules.nodes import string_value
from porter_rules.telling import is_telling


@rule(
    "PTR610",
    on=cst.SimpleString,
    needs=("nvidia",),
    manual=[
        'import subprocess\nsubprocess.run(["nvidia-smi", "-L"])\n',
        'cmd = "nvidia-smi -L | wc -l" if linux else "nvidia-smi"\n',
        'import shutil\nfound = shutil.which("nvidia-smi")\n',
        'import os\nos.system("nvidia-smi")\n',
    ],
    valid=[
        'print("nvidia-smi not found")\n',
        'raise FileNotFoundError("nvidia-smi: command not found")\n',
        'logger.info("see nvidia-smi")\n',
    ],
)
def nvidia_smi(original: cst.SimpleString, updated: cst.SimpleString, ctx: Context) -> Outcome:
    """Point out calls of `nvidia-smi`, which other accelerators don't have.

    What it is asked for has a portable answer in most cases: `accel.device_count()`,
    `accel.get_device_name(0)`, `accel.mem_get_info()`. Ascend's own tool is `npu-smi`, with other
    options and another output.
    """
    text = string_value(original)
    if text is None or not text.lstrip("! ").startswith("nvidia-smi"):
        return None
    role = ctx.role(original)
    if role.kind in ("raise", "statement") or is_telling(role.callee):
        return None
    return Manual(
        "nvidia-smi knows NVIDIA's devices alone: ask accel.device_count(), get_device_name() or "
        "mem_get_info(), or call npu-smi on Ascend"
    )
