"""`.is_cuda`."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Note, Outcome, rule
from porter_rules.cuda_kernels import PICKS_KERNEL, picks_kernel
from porter_rules.device_strings import gives_text
from porter_rules.leaving import BESIDE_QUANTISING, NPU_HANDLED, is_quantising
from porter_rules.nodes import string_value
from porter_rules.receivers import is_settings, own_library

_BY_NAME = (
    "asks for is_cuda by its name, of something that need not be a tensor: write "
    "accel.is_accelerator(x), which takes tensors, modules, devices and strings, where it is one"
)
_METHOD = Note("a method of the project's own: torch's is_cuda is an attribute")
_OWN = Note("an attribute of the project's own objects, which says what it said before")


@rule(
    "PTR103",
    on=(cst.Attribute, cst.Call),
    needs=("is_cuda",),
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
        (
            "if x.is_cuda:\n    from tools import move_to_cuda, use_cuda",
            "if accel.is_accelerator(x):\n    from tools import move_to_cuda, use_cuda",
        ),
    ],
    manual=[
        "torch.amp.GradScaler.is_cuda = True",
        "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
        "        return ext.cuda_fwd(x) if x.is_cuda else ext.cpu_fwd(x)",
        "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
        "        if x.is_cuda:\n            return ext.fwd(x)\n\n\n"
        "def f(x):\n    return F.apply(x if x.is_cuda else x.log_softmax(-1))",
        "y = scan_cuda.forward(x) if x.is_cuda else scan(x)",
        "y = x.is_cuda and _ext.fwd_cuda(x)",
        "if boxes.is_cuda and ext_module is not None:\n    keep = ext_module.nms(boxes, scores)",
        "y = _C.roi_align(x) if x.is_cuda else roi_align(x)",
        "ok = getattr(x, 'is_cuda', False)",
        "if x.is_cuda:\n    y = ext.forward_cuda(x)\nelse:\n    y = ext.forward(x)",
        "if x.is_cuda:\n    x = x.contiguous()\n    from ops import roi_cuda as roi\nelse:\n"
        "    from ops import roi_cpu as roi",
        "if x.is_cuda:\n    from ops import (\n        roi_cuda,\n    )\n    roi = roi_cuda",
        "class Roi(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
        "        return ext_module.roi(x)\n\n\ndef f(x):\n    if fast and x.is_cuda:\n"
        "        return Roi.apply(x)\n    return x",
        "class Roi(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
        "        return roi_cuda.forward(x)\n\n\nroi = Roi.apply\n\n\n"
        "def f(x):\n    return roi(x) if x.is_cuda else x",
        "use_cuda_kernel = grads[0].is_cuda",
        "import numba\nfrom numba import cuda\n\n\ndef can_launch(x):\n    return x.is_cuda",
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
        "ok = hasattr(x, 'is_cuda')",
        "if 'cuda:0'.is_cuda:\n    pass\n",
        "ok = (x or f'cuda:{i}').is_cuda",
    ],
)
def is_cuda(original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context) -> Outcome:
    """Ask whether a tensor lies on an accelerator, not whether it lies on CUDA.

    `t.is_cuda` becomes `accel.is_accelerator(t)`: where the answer decides about pinning,
    streams, half precision or a check, an NPU tensor belongs with the CUDA tensors.

    On CUDA the shim reads the same attribute; without an accelerator it is False, as before.

    Where the answer picks a CUDA kernel it is left, since an NPU tensor must not reach that
    kernel: where the branch calls or imports something with "cuda" in its name, a compiled
    extension such as `_C` or `ext_module`, or a function of torch.autograd that does so, and all
    over a file that writes kernels with numba or CuPy, or has a torch.autograd.Function that asks
    for it, whose callers have to agree with it. So it is beside layers of bitsandbytes, which
    `.cuda()` quantises.
    Attributes of the project's own objects (`self.is_cuda`, a method `is_cuda()`) stay.
    """
    if isinstance(original, cst.Call):
        return _looked_up(original, ctx)
    assert isinstance(original, cst.Attribute)
    assert isinstance(updated, cst.Attribute)
    if original.attr.value != "is_cuda" or own_library(original.value, ctx):
        return None
    if isinstance(original.value, cst.BaseString) or gives_text(updated.value, ctx):
        return None  # no text has it
    match ctx.parent:
        case cst.Call(func=func) if func is original:
            return _METHOD
    if is_settings(original.value):
        return _OWN
    if ctx.within("npu_aware"):
        return NPU_HANDLED
    if picks_kernel(original, ctx):
        return PICKS_KERNEL
    if is_quantising(ctx):
        return BESIDE_QUANTISING
    return ctx.runtime_call("is_accelerator", updated.value)


def _looked_up(call: cst.Call, ctx: Context) -> Outcome:
    """Answer for `getattr(x, "is_cuda", False)`."""
    if ctx.callee(call) != "builtins.getattr" or len(call.args) < 2:
        return None
    return Manual(_BY_NAME) if string_value(call.args[1].value) == "is_cuda" else None
