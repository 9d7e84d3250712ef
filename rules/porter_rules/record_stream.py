"""`Tensor.record_stream`."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Outcome, rule
from porter_rules.device_strings import gives_text
from porter_rules.leaving import NPU_HANDLED
from porter_rules.nodes import is_runtime
from porter_rules.receivers import is_tensor_like


@rule(
    "PTR209",
    on=cst.Call,
    needs=("record_stream",),
    rewrites=[
        (
            "x.record_stream(torch.cuda.current_stream())",
            "accel.record_stream(x, accel.current_stream())",
        ),
        (
            "batch['image'].record_stream(torch.cuda.current_stream())",
            "accel.record_stream(batch['image'], accel.current_stream())",
        ),
        (
            "import torch\ns = torch.cuda.Stream()\nx.record_stream(s)",
            "import torch\ns = accel.Stream()\naccel.record_stream(x, s)",
        ),
        (
            "x.grad.record_stream(  # keep it\n    torch.cuda.default_stream(),\n)",
            "accel.record_stream(  # keep it\n    x.grad, accel.default_stream(),\n)",
        ),
        (
            "s = torch.cuda.Stream()\n_ = [t.record_stream(s) for t in ts]",
            "s = accel.Stream()\n_ = [accel.record_stream(t, s) for t in ts]",
        ),
    ],
    valid=[
        "class Batch:\n    def record_stream(self, stream): ...\nx = torch.cuda.Stream()",
        "import porter_runtime as accel\naccel.record_stream(x, torch.cuda.current_stream())",
        "s = torch.cuda.Stream()\nself.record_stream()",
        "s = torch.cuda.Stream()\nself.record_stream(batch)",
        "s = torch.cuda.Stream()\nx.record_stream(*args)",
        "batch.record_stream(stream=torch.cuda.current_stream())",
        "f'cuda:{i}'.record_stream(torch.cuda.current_stream())",
    ],
)
def record_stream(original: cst.Call, updated: cst.Call, ctx: Context) -> Outcome:
    """Record the use of a tensor on a stream through the shim.

    `x.record_stream(s)` becomes `accel.record_stream(x, s)`: the method raises on a build without
    an accelerator, where the shim does nothing, since a CPU tensor's memory isn't reused while it
    is in use.

    On CUDA and on an NPU the shim calls the method. Written only in files that have something
    else of CUDA's; a call with other arguments than one stream, or on `self`, is a method of your
    own.
    """
    func = updated.func
    if not isinstance(func, cst.Attribute) or func.attr.value != "record_stream":
        return None
    if len(updated.args) != 1 or is_runtime(func, ctx):
        return None
    if not is_tensor_like(func.value) or gives_text(func.value, ctx):
        return None
    (stream,) = updated.args
    if stream.star or stream.keyword is not None:
        return None
    if ctx.within("npu_aware"):
        return NPU_HANDLED
    receiver = cst.Arg(func.value, comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
    return updated.with_changes(func=ctx.runtime("record_stream"), args=[receiver, stream])
