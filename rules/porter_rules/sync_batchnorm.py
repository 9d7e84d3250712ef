"""`SyncBatchNorm.convert_sync_batchnorm`."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Note, Outcome, rule
from porter_rules.availability import asks_availability
from porter_rules.nodes import is_chain

_METHOD = ".SyncBatchNorm.convert_sync_batchnorm"


@rule(
    "PTR506",
    on=cst.Call,
    needs=("convert_sync_batchnorm",),
    rewrites=[
        (
            "model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)",
            "model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model) "
            "if accel.is_available() else model",
        ),
        (
            "model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(self.model, group).to(device)",
            "model = (torch.nn.SyncBatchNorm.convert_sync_batchnorm(self.model, group) "
            "if accel.is_available() else self.model).to(device)",
        ),
        (
            "import torch.nn as nn\nm = nn.SyncBatchNorm.convert_sync_batchnorm(m)\n",
            "import torch.nn as nn\n"
            "m = nn.SyncBatchNorm.convert_sync_batchnorm(m) if accel.is_available() else m\n",
        ),
    ],
    notes=["m = torch.nn.SyncBatchNorm.convert_sync_batchnorm(build())"],
    valid=[
        "isinstance(m, torch.nn.SyncBatchNorm)",
        "m = torch.nn.SyncBatchNorm.convert_sync_batchnorm(m) if torch.cuda.is_available() else m",
        "m = MySyncBatchNorm.convert_sync_batchnorm(m)",
    ],
)
def sync_batchnorm(original: cst.Call, updated: cst.Call, ctx: Context) -> Outcome:
    """Convert to SyncBatchNorm only where there is an accelerator.

    SyncBatchNorm works on CUDA and on an NPU; in training over several CPU processes its forward
    raises, while plain batch norm does its job on each process's own batch. On CUDA the model is
    converted as before; parameters and buffers have the same names either way.

    A ternary that asks for the accelerator already stays. A model that is an expression of its own
    would be evaluated twice: it is left with a note.
    """
    qualified = ctx.qualified(original.func) or ""
    if not qualified.startswith("torch.") or not qualified.endswith(_METHOD) or not original.args:
        return None
    if _is_guarded(ctx):
        return None
    model = updated.args[0].value
    if not is_chain(model):
        return Note(
            "SyncBatchNorm raises when it trains over several CPU processes: to train there, "
            "convert under `if accel.is_available():`"
        )
    return cst.IfExp(
        test=ctx.runtime_call("is_available"),
        body=updated.with_changes(lpar=[], rpar=[]),
        orelse=model.deep_clone(),
    )


def _is_guarded(ctx: Context) -> bool:
    return isinstance(ctx.parent, cst.IfExp) and asks_availability(ctx.parent.test, ctx)
