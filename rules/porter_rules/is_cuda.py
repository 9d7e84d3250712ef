"""`.is_cuda`."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Note, Outcome, rule
from porter_rules.leaving import NPU_HANDLED
from porter_rules.receivers import is_settings, own_library

_PICKS_KERNEL = (
    "this test decides whether a CUDA kernel is called, and an NPU tensor must not reach it: keep "
    "it, and give other devices a branch in plain torch operators"
)
_KERNELS = ("autograd_function", "cuda_kernel", "cuda_kernels")
_METHOD = Note("a method of the project's own: torch's is_cuda is an attribute")
_OWN = Note("an attribute of the project's own objects, which says what it said before")


@rule(
    "PTR103",
    on=cst.Attribute,
    rewrites=[
        ("if t.is_cuda:\n    pass", "if accel.is_accelerator(t):\n    pass"),
        ("assert x.is_cuda, 'move it first'", "assert accel.is_accelerator(x), 'move it first'"),
        ("ok = not self.weight.is_cuda", "ok = not accel.is_accelerator(self.weight)"),
        (
            "moved = next(model.parameters()).is_cuda",
            "moved = accel.is_accelerator(next(model.parameters()))",
        ),
        (
            "all(t.is_cuda for t in tensors)",
            "all(accel.is_accelerator(t) for t in tensors)",
        ),
        (
            "if a.is_cuda == b.is_cuda and x[0].is_cuda:\n    pass",
            "if accel.is_accelerator(a) == accel.is_accelerator(b) and "
            "accel.is_accelerator(x[0]):\n    pass",
        ),
        (
            "mask = mask.cuda() if x.is_cuda else mask",
            "mask = mask.to(accel.device_type) if accel.is_accelerator(x) else mask",
        ),
        ("print(f'{x.is_cuda}')", "print(f'{accel.is_accelerator(x)}')"),
        ("f(pin=x.grad.data.is_cuda)", "f(pin=accel.is_accelerator(x.grad.data))"),
    ],
    manual=[
        "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
        "        return ext.cuda_fwd(x) if x.is_cuda else ext.cpu_fwd(x)",
        "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
        "        if x.is_cuda:\n            return ext.fwd(x)\n\n\n"
        "def f(x):\n    return F.apply(x if x.is_cuda else x.log_softmax(-1))",
        "y = scan_cuda.forward(x) if x.is_cuda else scan(x)",
        "y = x.is_cuda and _ext.fwd_cuda(x)",
        "if x.is_cuda:\n    y = ext.forward_cuda(x)\nelse:\n    y = ext.forward(x)",
        "@torch.jit.script\ndef f(x: torch.Tensor):\n    if x.is_cuda:\n        return x.half()\n"
        "    return x",
    ],
    notes=[
        "if is_npu_available():\n    pass\nelif x.is_cuda:\n    pass",
        "if current_platform.is_cuda():\n    pass",
        "if self.is_cuda:\n    pass",
        "if args.is_cuda:\n    pass",
    ],
    valid=[
        "self.is_cuda = True",
        "is_cuda = x.device.type == 'cuda'",
        "f(is_cuda=True)",
    ],
)
def is_cuda(original: cst.Attribute, updated: cst.Attribute, ctx: Context) -> Outcome:
    """Ask whether a tensor lies on an accelerator, not whether it lies on CUDA.

    `t.is_cuda` becomes `accel.is_accelerator(t)`: where the answer decides about pinning,
    streams, half precision or a check, an NPU tensor belongs with the CUDA tensors.

    On CUDA the shim reads the same attribute; without an accelerator it is False, as before.

    Where the answer picks a CUDA kernel it is left, since an NPU tensor must not reach that
    kernel: where the branch calls something with "cuda" in its name, and all over a file with a
    torch.autograd.Function that asks for it, whose callers have to agree with it.
    Attributes of the project's own objects (`self.is_cuda`, a method `is_cuda()`) stay.
    """
    if original.attr.value != "is_cuda" or own_library(original.value, ctx):
        return None
    match ctx.parent:
        case cst.Call(func=func) if func is original:
            return _METHOD
    if is_settings(original.value):
        return _OWN
    if ctx.within("npu_aware"):
        return NPU_HANDLED
    if any(map(ctx.within, _KERNELS)) or _picks_kernel(ctx):
        return Manual(_PICKS_KERNEL)
    return ctx.runtime_call("is_accelerator", updated.value)


def _picks_kernel(ctx: Context) -> bool:
    """Whether another part of the condition, or of the ternary, calls a CUDA kernel."""
    return any(
        _calls_kernel(part)
        for node in ctx.stack
        if isinstance(node, cst.IfExp | cst.BooleanOperation)
        for part in node.children
    )


def _calls_kernel(node: cst.CSTNode) -> bool:
    if isinstance(node, cst.Call) and any(map(_is_kernel, _chain(node.func))):
        return True
    return any(map(_calls_kernel, node.children))


def _is_kernel(name: str) -> bool:
    """Whether the name is one like `roi_cuda` or `cuda_forward`; `to_cuda` moves a tensor."""
    if name.startswith("is_") or name.endswith("to_cuda"):
        return False
    return name.startswith(("cuda_", "_cuda")) or name.endswith("_cuda")


def _chain(node: cst.CSTNode) -> list[str]:
    names = []
    while isinstance(node, cst.Attribute):
        names.append(node.attr.value)
        node = node.value
    return [*names, node.value] if isinstance(node, cst.Name) else names
