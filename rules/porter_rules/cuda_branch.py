"""Comparisons with "cuda" whose branch is for CUDA alone."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Outcome, rule
from porter_rules.leaving import CUDA_BRANCH
from porter_rules.nodes import string_value


@rule(
    "PTR213",
    on=cst.Comparison,
    notes=[
        "import torch\nif t.device.type == 'cuda':\n    torch.cuda.nvtx.range_push('f')",
        "if 'cuda' in str(device):\n    torch.cuda.cudart().cudaProfilerStart()",
        "if device == 'cuda' and verbose:\n    torch.cuda.nvtx.mark('a')\n"
        "    torch.cuda.nvtx.mark('b')",
    ],
    valid=[
        "if device.type == 'cuda':\n    torch.cuda.synchronize()",
        "if device.type == 'cuda':\n    torch.cuda.nvtx.mark('a')\n    x = x.half()",
        "if device.type == 'cpu':\n    torch.cuda.nvtx.mark('a')",
        "ok = device.type == 'cuda'",
    ],
)
def cuda_branch(original: cst.Comparison, updated: cst.Comparison, ctx: Context) -> Outcome:
    """Leave a comparison with "cuda" whose branch holds nothing but what CUDA alone has.

    `if t.device.type == "cuda": torch.cuda.nvtx.range_push("f")` marks a range for NVIDIA's
    profiler, and skips that elsewhere, which is right on every device. Test and branch stay.

    Where the branch does anything else, the comparison is PTR305's.
    """
    if not ctx.within("cuda_branch"):
        return None
    operands = [original.left, *(c.comparator for c in original.comparisons)]
    return CUDA_BRANCH if any(string_value(o) == "cuda" for o in operands) else None
