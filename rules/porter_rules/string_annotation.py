"""Annotations that are written as strings."""

from __future__ import annotations

import re

import libcst as cst

from porter.rule import Context, Manual, Outcome, rule
from porter_rules.leaving import NPU_HANDLED
from porter_rules.names import AMP, INSIDE_AMP, at_home, shim_name, why_refused

_CHAIN = re.compile(r"(?<![\w.])[^\W\d]\w*(?:\.[^\W\d]\w*)+")
_PREFIX = "torch.cuda."


@rule(
    "PTR207",
    on=cst.SimpleString,
    rewrites=[
        (
            'import torch\ndef f(s: "torch.cuda.Stream"): ...',
            'import torch\ndef f(s: "accel.Stream"): ...',
        ),
        (
            "def f() -> Optional['torch.cuda.Event']: ...",
            "def f() -> Optional['accel.Event']: ...",
        ),
        (
            "x: 'dict[str, torch.cuda.Stream | None]' = {}",
            "x: 'dict[str, accel.Stream | None]' = {}",
        ),
        ("s: 'torch.cuda.amp.GradScaler'", "s: 'accel.GradScaler'"),
        (
            "from torch import cuda\ns: 'cuda.Stream'",
            "from torch import cuda\ns: 'accel.Stream'",
        ),
    ],
    manual=[
        "g: 'torch.cuda.CUDAGraph'",
        "pools: 'list[torch.cuda.MemPool]'",
        "state: 'torch.cuda.amp.grad_scaler.OptState'",
    ],
    valid=[
        "s: 'Stream'",
        "from numba import cuda\na: 'cuda.Stream'",
        "x: Literal['cuda', 'cpu']",
        "f('torch.cuda.Stream')",
        "s: torch.cuda.Stream",
    ],
)
def string_annotation(
    original: cst.SimpleString, updated: cst.SimpleString, ctx: Context
) -> Outcome:
    """Take names of torch.cuda from the shim inside annotations that are strings, too.

    `s: "torch.cuda.Stream"` becomes `s: "accel.Stream"`, so that the annotation names the class
    of the objects that the ported code makes. The quotes stay: the string may name what is
    defined further down.

    On CUDA both are the same class. A name without a meaning off CUDA is left, and reported.
    """
    if ctx.fragment_role.kind != "annotation" or "cuda" not in original.value:
        return None
    refused: list[str] = []

    def port(chain: re.Match[str]) -> str:
        name = _torch_cuda_name(chain.group(), ctx)
        if name is None:
            return chain.group()
        attribute = shim_name(name) or AMP.get(name)
        if attribute is None:
            refused.append(why_refused(name) or f"torch.cuda.{name} {INSIDE_AMP}")
        return f"{ctx.alias}.{attribute}"

    value = _CHAIN.sub(port, original.value)
    if refused:
        return Manual(refused[0])
    if value == original.value:
        return None
    if ctx.within("npu_aware"):
        return NPU_HANDLED
    return ctx.naming_runtime(updated.with_changes(value=value))


def _torch_cuda_name(chain: str, ctx: Context) -> str | None:
    root, _, rest = chain.partition(".")
    qualified = f"{ctx.names.get(root)}.{rest}"
    return at_home(qualified.removeprefix(_PREFIX)) if qualified.startswith(_PREFIX) else None
