"""Worker processes that are forked."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, rule
from porter_rules.nodes import argument, string_value


@rule(
    "PTR608",
    on=cst.Call,
    needs=("fork",),
    manual=[
        'import multiprocessing as mp\nmp.get_context("fork").Process(target=w).start()  # CUDA\n',
        'import torch.multiprocessing as mp\nmp.set_start_method("fork", force=True)  # CUDA\n',
        'from multiprocessing import set_start_method\nset_start_method(method="fork")  # CUDA\n',
        'loader = DataLoader(ds, multiprocessing_context="fork")  # CUDA\n',
    ],
    valid=[
        'import multiprocessing as mp\nmp.set_start_method("spawn")  # CUDA\n',
        'import multiprocessing as mp\nmp.get_context("fork")\n',
        'cutlery.get("fork")  # CUDA\n',
    ],
)
def fork_start(original: cst.Call, updated: cst.Call, ctx: Context) -> Outcome:
    """Point out forked workers in files that use a device.

    A process that has used an accelerator can't be forked: CUDA and the NPU both refuse to
    start again in the child. It works only while the parent has not touched the device, which
    can't be seen here. Use "spawn" or "forkserver" for workers that use the device.
    """
    called = ctx.callee(original).rpartition(".")[2]
    if called in ("get_context", "set_start_method"):
        method = argument(original, "method", 0)
    else:
        method = argument(original, "multiprocessing_context", None)
    if method is None or string_value(method.value) != "fork":
        return None
    return Manual(
        '"fork" starts processes that can\'t use an accelerator which their parent has used: '
        'take "spawn" or "forkserver" where they do',
        whole=False,
    )
