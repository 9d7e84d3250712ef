"""Whether what stands before a dot is a tensor or module: judged by what made it, or its name."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context

PIPELINES = ("transformers.pipeline", "transformers.pipelines.pipeline")
"""Functions of transformers that take a torch.device where their callers often give an index."""

_TORCH_ROOTS = frozenset(
    {"torch", "torchvision", "torchaudio", "transformers", "diffusers", "timm", "peft", "monai"}
)
_TORCH_NAMES = frozenset(
    """
    model net network module tensor encoder decoder backbone discriminator generator criterion
    images image inputs input_ids targets target labels logits batch mask pipe
    """.split()
)


def is_torch(receiver: cst.BaseExpression, ctx: Context) -> bool | None:
    """Whether a receiver is a tensor or module; None where that can't be seen."""
    while isinstance(receiver, cst.Call | cst.Attribute | cst.Subscript):
        if isinstance(receiver, cst.Call):
            qualified = ctx.qualified(receiver.func)
            if qualified is not None:
                return _from_torch(qualified)
            receiver = receiver.func
        if isinstance(receiver, cst.Attribute | cst.Subscript):
            if isinstance(receiver, cst.Attribute) and receiver.attr.value in _TORCH_NAMES:
                return True
            receiver = receiver.value
        elif isinstance(receiver, cst.Name):
            return None
    if isinstance(receiver, cst.Name):
        if receiver.value in ctx.instances:
            return _from_torch(ctx.instances[receiver.value])
        return True if receiver.value in _TORCH_NAMES else None
    return None


def _from_torch(qualified: str) -> bool | None:
    """Whether what a function returns is a tensor or module, judged by the function's package."""
    root = qualified.partition(".")[0]
    if root in _TORCH_ROOTS:
        return True
    return None if root in ("", "builtins") else False
