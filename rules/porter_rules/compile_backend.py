"""torch.compile, whose default backend needs a compiler for the device."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Note, Outcome, rule
from porter_rules.nodes import argument, string_value

_WHY = (
    "torch.compile's inductor backend generates Triton code, for which an Ascend NPU needs "
    "triton-ascend: choose the backend by accel.device_type, or compile only where it is installed"
)


@rule(
    "PTR609",
    on=(cst.Call, cst.Attribute),
    needs=("compile",),
    manual=[
        'import torch\nnet = torch.compile(net, backend="inductor", mode="max-autotune")\n',
        "import torch\nnet = torch.compile(net)\n",
        'net.compile(backend="inductor")  # CUDA\n',
        "import torch\n@torch.compile\ndef step(x):\n    return x\n",
        "import torch\n@torch.compile(dynamic=True)\ndef step(x):\n    return x\n",
        "import torch\njit_fuser = torch.compile\n",
    ],
    notes=[
        "import torch\nnet = torch.compile(net, **plugin.to_kwargs())\n",
        "import torch\nnet = torch.compile(net, backend=args.backend)\n",
    ],
    valid=[
        'import torch\nnet = torch.compile(net, backend="eager")\n',
        "import torch\nnet = torch.compile(net, disable=True)\n",
        "import torch\ntorch.compiler.reset()  # torch.compile\n",
    ],
)
def compile_backend(
    original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context
) -> Outcome:
    """Point out `torch.compile` with its default backend, inductor.

    Inductor generates Triton kernels for an accelerator. On Ascend that needs triton-ascend;
    without it the first call fails. What is compiled runs the same uncompiled. Nothing is
    rewritten: whether to compile, and with what, is the program's choice. Another backend's name is
    left alone; one that is chosen by a variable, or may be among options behind `**`, is noted.
    """
    if isinstance(original, cst.Attribute):
        called = isinstance(ctx.parent, cst.Call) and ctx.parent.func is original
        if called or ctx.qualified(original) != "torch.compile":
            return None
        return Manual(_WHY)
    assert isinstance(original, cst.Call)
    method = ctx.callee(original) == "?.compile"  # nn.Module's, where it names this backend
    if not method and ctx.callee(original) != "torch.compile":
        return None
    if argument(original, "disable", None) is not None:
        return None
    backend = argument(original, "backend", None)
    named = None if backend is None else string_value(backend.value)
    if named != "inductor" and (method or named is not None):
        return None
    chosen = named is None and backend is not None
    if chosen or any(a.star == "**" for a in original.args):
        return Note(
            "where nothing else is chosen as torch.compile's backend, it is inductor, which needs "
            "triton-ascend on an NPU"
        )
    return Manual(_WHY, whole=False)
