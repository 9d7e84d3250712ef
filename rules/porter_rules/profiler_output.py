"""What profilers write for CUDA: NVTX ranges, columns that are called after it."""

from __future__ import annotations

import re

import libcst as cst

from porter.rule import Context, Note, Outcome, rule
from porter_rules.leaving import cuda_only
from porter_rules.nodes import string_value
from porter_rules.telling import is_telling

_EMIT = "torch.autograd.profiler.emit_nvtx"
_COLUMN = re.compile(r"(?:self_)?cuda_(?:time|time_total|memory_usage)")


@rule(
    "PTR414",
    on=(cst.Call, cst.SimpleString),
    needs=(),
    manual=[
        "with torch.autograd.profiler.emit_nvtx():  # CUDA\n    pass\n",
        "from torch.autograd import profiler  # CUDA\nctx = profiler.emit_nvtx()\n",
    ],
    notes=[
        'print(prof.key_averages().table(sort_by="cuda_time_total", row_limit=10))\n',
        'rows = prof.key_averages().table(sort_by="self_cuda_memory_usage")\n',
        'prof.export_stacks(path, "self_cuda_time_total")\n',
    ],
    valid=[
        'print(prof.key_averages().table(sort_by="cpu_time_total"))  # cuda\n',
        'print("cuda_time_total")\n',
        'total = event["cuda_time_total"] + 1\n',
    ],
)
def profiler_output(
    original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context
) -> Outcome:
    """Report `emit_nvtx`, and note columns of a profile that are called after CUDA.

    `torch.autograd.profiler.emit_nvtx` calls CUDA's library and raises without it: use
    torch.profiler.profile with `accel.profiler_activities()`, or keep it under a test for CUDA.

    `sort_by="cuda_time_total"` and its kin stay: torch 2.4 and later read "cuda" there as the
    device that was recorded, and older ones have the column on every machine.
    """
    if isinstance(original, cst.Call):
        if ctx.callee(original) != _EMIT:
            return None
        return cuda_only(
            "emit_nvtx needs CUDA's own NVTX library and raises without it: use "
            "torch.profiler.profile(activities=accel.profiler_activities()), or keep it under "
            '`if accel.device_type == "cuda":`',
            ctx,
        )
    role = ctx.role(original)
    if role.kind not in ("argument", "keyword", "assign", "default") or is_telling(role.callee):
        return None
    if _COLUMN.fullmatch(string_value(original) or "") is None:
        return None
    return Note(
        "a column of a profile: torch reads `cuda` in its name as the device that was recorded"
    )
