"""NCCL's own classes in torch.distributed."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Imported, ImportOutcome, Manual, Note, Outcome, import_rule, rule

_CLASS = "ProcessGroupNCCL"
_PRIVATE = {
    "_check_for_nccl_backend": "is private and knows NCCL alone: compare "
    "`dist.get_backend(group)` with accel.dist_backend()",
    "_make_nccl_premul_sum": "makes a reduction that NCCL alone has: use ReduceOp.SUM, and "
    "multiply before it",
}
"""Private functions of torch.distributed about NCCL, and what to do about each."""

_WHY = (
    "its options and methods are NCCL's own: make process groups with "
    "`dist.new_group(...)` without `pg_options` off CUDA, and keep this under "
    '`if accel.device_type == "cuda":`'
)


@rule(
    "PTR508",
    on=cst.Attribute,
    needs=("NCCL", "nccl"),
    manual=[
        "options = torch.distributed.ProcessGroupNCCL.Options()",
        "import torch.distributed as dist\n"
        "isinstance(group, dist.distributed_c10d.ProcessGroupNCCL)\n",
        "import torch\nop = torch.distributed._make_nccl_premul_sum(factor)\n",
    ],
    valid=['hasattr(torch.distributed, "ProcessGroupNCCL")'],
)
def nccl_process_group(original: cst.Attribute, updated: cst.Attribute, ctx: Context) -> Outcome:
    """Report torch.distributed.ProcessGroupNCCL, which other devices' torch lacks.

    Its options and methods are NCCL's own, so nothing is rewritten: make process groups with
    `dist.new_group(...)` without `pg_options` off CUDA, and keep the class under a test for CUDA.
    The NPU's counterpart, ProcessGroupHCCL, is torch_npu's and has other options. Private
    functions of torch.distributed that know NCCL alone are reported as well.
    """
    qualified = ctx.qualified(original) or ""
    if original.attr.value in _PRIVATE and qualified.startswith("torch."):
        return Manual(f"`{original.attr.value}` {_PRIVATE[original.attr.value]}")
    if original.attr.value != _CLASS or not qualified.startswith("torch."):
        return None
    return Manual(f"`{_CLASS}` is missing where torch is built without NCCL, and {_WHY}")


@import_rule(
    "PTR509",
    manual=["from torch.distributed import ProcessGroupNCCL\n"],
    notes=[
        "try:\n    from torch.distributed import ProcessGroupNCCL\n"
        "except ImportError:\n    ProcessGroupNCCL = None\n"
    ],
    valid=["from torch.distributed import new_group as nccl_group\n"],
)
def nccl_import(imported: Imported) -> ImportOutcome:
    """Report the import of torch.distributed.ProcessGroupNCCL.

    Unguarded at the top of a module it raises where torch is built without NCCL, as it is for the
    NPU and the CPU; in a `try`, a condition or a function it only matters where it is used.
    """
    if not imported.qualified.startswith("torch.") or not imported.qualified.endswith(f".{_CLASS}"):
        return None
    if imported.placement != "module":
        return Note(f"`{_CLASS}` is only imported where this block is reached")
    return Manual(
        f"importing `{_CLASS}` raises where torch is built without NCCL (NPU, CPU): "
        "move the import to where it is used on CUDA"
    )
