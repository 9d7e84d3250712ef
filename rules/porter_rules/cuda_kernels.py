"""Whether a test for CUDA picks a kernel that only runs there."""

from __future__ import annotations

import re

import libcst as cst

from porter.rule import Context, Manual
from porter_rules.nodes import children, walk

PICKS_KERNEL = Manual(
    "the test picks a CUDA kernel, which an NPU tensor must not reach: give the NPU a branch of "
    "its own (accel.device_type tells the backend), or let it take the branch of the CPU"
)

_KERNEL = re.compile(r"_?cuda_\w*|\w+_cuda|_C|(?:\w*_)?ext(?:_module|ension)?")
_FLAGS = ("autograd_function", "cuda_kernel", "cuda_kernels")


def picks_kernel(test: cst.CSTNode, ctx: Context) -> bool:
    """Whether the test that is being left decides about a CUDA kernel.

    It does in a torch.autograd.Function, where the branch under it calls or imports something
    with "cuda" in its name, a compiled extension (`_C`, `ext_module`) or a function of
    torch.autograd that does so, where another part of its condition or of its ternary does, and
    where the answer is called `use_kernel` or the like. So it does all over a file that writes
    kernels with numba or CuPy.
    """
    role = ctx.role(test)
    if role.kind in ("assign", "keyword", "default", "return") and "kernel" in role.name.lower():
        return True
    return any(map(ctx.within, _FLAGS)) or any(
        _calls_kernel(part, ctx)
        for node in ctx.stack
        if isinstance(node, cst.IfExp | cst.BooleanOperation)
        for part in children(node)
    )


def _calls_kernel(node: cst.CSTNode, ctx: Context) -> bool:
    chains = [_chain(n.func) for n in walk(node) if isinstance(n, cst.Call)]
    return any(
        any(map(_is_kernel, chain)) or ctx.within(f"kernel:{'.'.join(reversed(chain))}")
        for chain in chains
    )


def _is_kernel(name: str) -> bool:
    """Whether the name is one like `roi_cuda`, `cuda_forward`, `_C` or `nms_ext`.

    `to_cuda` moves a tensor.
    """
    if name.startswith("is_") or name.endswith("to_cuda"):
        return False
    return _KERNEL.fullmatch(name) is not None


def _chain(node: cst.CSTNode) -> list[str]:
    names = []
    while isinstance(node, cst.Attribute):
        names.append(node.attr.value)
        node = node.value
    return [*names, node.value] if isinstance(node, cst.Name) else names
