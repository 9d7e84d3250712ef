"""Which accelerator Lightning's Trainer and Fabric are told to use."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Note, Outcome, rule
from porter_rules.nodes import argument, string_value

_TAKERS = frozenset({"Trainer", "Fabric", "LightningLite", "from_argparse_args", "partial"})


@rule(
    "PTR706",
    on=cst.Call,
    needs=("accelerator", "gpus"),
    manual=[
        "from lightning.pytorch import Trainer\n"
        't = Trainer(accelerator="gpu", devices=2, strategy="ddp")\n',
        'import pytorch_lightning as pl\nt = pl.Trainer(gpus=2, accelerator="ddp")\n',
        "import pytorch_lightning as pl\nt = pl.Trainer(gpus=args.gpus)\n",
        'from lightning import Fabric\nf = Fabric(accelerator="cuda")\n',
        "import pytorch_lightning as pl\n"
        't = pl.Trainer(accelerator="gpu" if args.gpu else "cpu")\n',
    ],
    notes=[
        'import pytorch_lightning as pl\nt = pl.Trainer(accelerator="auto")\n',
    ],
    valid=[
        'import pytorch_lightning as pl\nt = pl.Trainer(accelerator="cpu")\n',
        "import pytorch_lightning as pl\nt = pl.Trainer(gpus=0)\n",
        "t = loop(accelerator=accelerator)\n",
        "run(synced_gpus=2)  # cuda\n",
    ],
)
def lightning_accelerator(original: cst.Call, updated: cst.Call, ctx: Context) -> Outcome:
    """Point out Lightning's `accelerator="gpu"`, "cuda" and `gpus=`.

    Stock Lightning knows no NPU: "npu" is no name to it, and "auto" silently picks the CPU, so
    neither is written here. An Accelerator class of one's own (parse_devices,
    get_parallel_devices, auto_device_count, is_available, registered under a name) can be given
    to the Trainer, with `strategy` and `process_group_backend` to match.
    """
    name = ctx.callee(original).rpartition(".")[2]
    if name not in _TAKERS and not name.endswith("Trainer"):
        return None
    accelerator = argument(original, "accelerator", None)
    if accelerator is not None:
        names = _strings(accelerator.value)
        for asked in ("gpu", "cuda"):
            if asked in names:
                return _by_hand(f'accelerator="{asked}"')
        if names == {"auto"}:
            return Note(
                'accelerator="auto" picks the CPU on an NPU with stock Lightning, without a word'
            )
    gpus = argument(original, "gpus", None)
    if gpus is not None and _asks_for_gpus(gpus.value):
        return _by_hand("gpus=")
    return None


def _by_hand(what: str) -> Manual:
    return Manual(
        f"{what} means CUDA to Lightning, and stock Lightning has no NPU: register an Accelerator "
        "class for it, and choose it by accel.device_type",
        whole=False,
    )


def _strings(node: cst.BaseExpression) -> set[str]:
    """Return the strings that an expression can give: itself, or the branches of a ternary."""
    if isinstance(node, cst.IfExp):
        return _strings(node.body) | _strings(node.orelse)
    value = string_value(node)
    return set() if value is None else {value}


def _asks_for_gpus(value: cst.BaseExpression) -> bool:
    match value:
        case cst.Integer(value="0") | cst.Name(value="None"):
            return False
    return True
