"""Imports by which a file handles Ascend NPUs itself."""

from __future__ import annotations

from porter.rule import Imported, ImportOutcome, Manual, Note, import_rule


@import_rule(
    "PTR707",
    manual=[
        "import torch_npu\nfrom torch_npu.contrib import transfer_to_npu\n",
        "import torch_npu.contrib.transfer_to_npu\n",
    ],
    notes=[
        "import torch_npu\n",
        "try:\n    import torch_npu\nexcept ImportError:\n    pass\n",
        "from torch_npu.npu import synchronize\n",
    ],
    valid=[
        "from .torch_npu import f  # cuda\n",
    ],
)
def npu_imports(imported: Imported) -> ImportOutcome:
    """Note that a file handles Ascend NPUs itself, and point out a runtime patch.

    Where torch_npu is imported, branches for the NPU are written already: an `if` ladder that
    has one keeps its CUDA branch as it is. `torch_npu.contrib.transfer_to_npu` is another
    matter: it replaces torch.cuda by torch.npu while the program runs, which ported code neither
    needs nor stands well with.
    """
    if imported.qualified.partition(".")[0] != "torch_npu":
        return None
    if "transfer_to_npu" in imported.qualified:
        return Manual(
            "transfer_to_npu replaces torch.cuda by torch.npu at run time: drop this import once "
            "the program is ported, since both together pick wrong branches"
        )
    return Note("this file handles the NPU itself: branches that already do so are left")
