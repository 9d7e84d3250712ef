"""Conditions that ask for CUDA in order to use something that only CUDA has."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from porter.rule import Context, Manual, Outcome, rule
from porter_rules.names import torch_cuda_name, why_refused
from porter_rules.nodes import children

_WHY = (
    "the test for CUDA protects something that only CUDA has, so that both stay: if a feature is "
    "meant, ask for it (`accel.is_bf16_supported()`); if CUDA is meant, ask for "
    '`accel.device_type == "cuda"`'
)

_QUESTIONS = frozenset({"is_available", "device_count"})
"""What a condition calls to ask whether there is CUDA."""


@rule(
    "PTR211",
    on=(cst.BooleanOperation, cst.IfExp),
    needs=("is_available", "device_count"),
    manual=[
        "import torch\nflash = torch.cuda.is_available() and "
        "torch.cuda.get_device_capability()[0] >= 8",
        "if torch.cuda.is_available() and torch.cuda.get_device_capability()[0] >= 8:\n    pass",
        "cap = torch.cuda.get_device_capability() if torch.cuda.is_available() else (0, 0)",
        "dt = torch.bfloat16 if torch.cuda.is_available() and torch.cuda.get_device_capability()"
        " >= (8, 0) else torch.float16",
        "mod = torch.cuda if torch.cuda.is_available() else torch.cpu",
        "if not torch.cuda.is_available() or torch.cuda.get_arch_list() == []:\n    pass",
        "sm = torch.cuda.get_device_properties(0).major if torch.cuda.is_available() else 0",
    ],
    valid=[
        "if torch.cuda.is_available() and torch.cuda.is_bf16_supported():\n    pass",
        "cap = torch.cuda.get_device_capability() if flag else None",
        "if hasattr(torch.cuda, 'amp') and torch.cuda.is_available():\n    pass",
        "n = torch.cuda.device_count() if torch.cuda.is_available() else 0",
    ],
)
def cuda_only_condition(
    original: cst.BaseExpression,
    updated: cst.BaseExpression,
    ctx: Context,
) -> Outcome:
    """Leave a test for CUDA together with the CUDA-only name that it protects.

    `torch.cuda.is_available() and torch.cuda.get_device_capability()[0] >= 8` asks for an NVIDIA
    chip. With only its first half ported, the second half would be reached on an NPU and raise;
    so the whole stays, and is False there, as without an accelerator.

    Decide what is meant: a feature (ask for it: `accel.is_bf16_supported()`), or NVIDIA
    (`accel.device_type == "cuda"`).
    """
    condition = original.test if isinstance(original, cst.IfExp) else original
    if not _QUESTIONS.intersection(_torch_cuda_names(condition, ctx)):
        return None
    if not any(_is_cuda_only(name) for name in _torch_cuda_names(updated, ctx)):
        return None
    return Manual(_WHY, groups=() if ctx.guard is None else (ctx.guard,))


def _is_cuda_only(name: str) -> bool:
    """Whether a name that the other rules have left is one that they had to leave."""
    return name in ("", "get_device_properties") or why_refused(name) is not None


def _torch_cuda_names(node: cst.CSTNode, ctx: Context) -> Iterator[str]:
    """Yield the names of torch.cuda in an expression, less those that are only probed for."""
    if isinstance(node, cst.Call) and ctx.callee(node) in ("builtins.hasattr", "builtins.getattr"):
        return
    name = torch_cuda_name(node, ctx)
    if name is not None:
        yield name
        return
    for child in children(node):
        yield from _torch_cuda_names(child, ctx)
