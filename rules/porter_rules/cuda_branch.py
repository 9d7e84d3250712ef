"""Comparisons with "cuda" whose branch is for CUDA alone."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Outcome, rule
from porter_rules.device_equality import starts_with
from porter_rules.leaving import CUDA_BRANCH


@rule(
    "PTR213",
    on=(cst.Comparison, cst.Call),
    notes=[
        "import torch\nif t.device.type == 'cuda':\n    torch.cuda.nvtx.range_push('f')",
        "if 'cuda' in str(device):\n    torch.cuda.cudart().cudaProfilerStart()",
        "if device.startswith('cuda'):\n    torch.cuda.nvtx.mark('a')",
        "import torch\nif device == torch.device('cuda'):\n    torch.cuda.nvtx.mark('a')",
        "if device == 'cuda' and verbose:\n    torch.cuda.nvtx.mark('a')\n"
        "    torch.cuda.nvtx.mark('b')",
    ],
    valid=[
        "if device.type == 'cuda':\n    torch.cuda.synchronize()",
        "if device.type == 'cuda':\n    torch.cuda.nvtx.mark('a')\n    x = x.half()",
        "if device.type == 'cuda':\n    with torch.cuda.nvtx.range('a'):\n        step(x)",
        "if device.type == 'cpu':\n    torch.cuda.nvtx.mark('a')",
        "ok = device.type == 'cuda'",
    ],
)
def cuda_branch(original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context) -> Outcome:
    """Leave a comparison with "cuda" whose branch holds nothing but what CUDA alone has.

    `if t.device.type == "cuda": torch.cuda.nvtx.range_push("f")` marks a range for NVIDIA's
    profiler, and skips that elsewhere, which is right on every device. Test and branch stay.

    Where the branch does anything else, the comparison is PTR305's.
    """
    if not ctx.within("cuda_branch"):
        return None
    if isinstance(original, cst.Call):
        return CUDA_BRANCH if starts_with(original, original, ctx) else None
    return CUDA_BRANCH if "cuda" in cst.Module([]).code_for_node(original) else None
