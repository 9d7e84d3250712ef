"""Imports of names from torch.cuda."""

from __future__ import annotations

from porter.rule import Imported, ImportOutcome, Manual, Mirrored, Note, import_rule
from porter_rules.leaving import NPU_HANDLED
from porter_rules.names import (
    AMP,
    HOMES,
    INSIDE_AMP,
    MOVED_FROM_AMP,
    OPT_STATE,
    OPT_STATE_IS_SHARED,
    at_home,
    shim_name,
    why_refused,
)

_MODULES = frozenset({"", "nvtx", "amp", "amp.autocast_mode", "amp.grad_scaler", *HOMES})
"""Modules whose uses are ported where they stand (`cuda.synchronize()`, `nvtx.mark(m)`)."""

_STAR = (
    "a star import of torch.cuda hides which names are used: import the names that are needed, "
    "and run porter again"
)


@import_rule(
    "PTR203",
    rewrites=[
        (
            "from torch.cuda.amp import autocast, GradScaler as GS\nscaler = GS(enabled=True)",
            "from porter_runtime import autocast, GradScaler as GS\nscaler = GS(enabled=True)",
        ),
        (
            "from torch.cuda import Stream, synchronize\nsynchronize()",
            "from porter_runtime import Stream, synchronize\nsynchronize()",
        ),
        (
            "from torch.cuda import device_count as count  # noqa: F401",
            "from porter_runtime import device_count as count  # noqa: F401",
        ),
        ("from torch.cuda import FloatTensor", "from porter_runtime import FloatTensor"),
        (
            "from torch.cuda.amp.grad_scaler import GradScaler",
            "from porter_runtime import GradScaler",
        ),
        (
            "from torch.cuda.amp.autocast_mode import custom_fwd, custom_bwd",
            "from porter_runtime import custom_fwd, custom_bwd",
        ),
        ("from torch.cuda.memory import empty_cache", "from porter_runtime import empty_cache"),
        ("from torch.cuda.streams import Event", "from porter_runtime import Event"),
        (
            "from torch.cuda.random import (\n    get_rng_state,\n    set_rng_state,  # all\n)",
            "from porter_runtime import (\n    get_rng_state,\n    set_rng_state,  # all\n)",
        ),
        (
            "try:\n    from torch.cuda.amp import autocast\nexcept ImportError:\n    pass",
            "try:\n    from porter_runtime import autocast\nexcept ImportError:\n    pass",
        ),
        (
            "if TYPE_CHECKING:\n    from torch.cuda import Stream",
            "if TYPE_CHECKING:\n    from porter_runtime import Stream",
        ),
        (
            "from torch.cuda import CUDAGraph, Stream",
            "from torch.cuda import CUDAGraph\nfrom porter_runtime import Stream",
        ),
        (
            "from torch.cuda import _lazy_call, device as ctx  # both",
            "from torch.cuda import _lazy_call\nfrom porter_runtime import device as ctx  # both",
        ),
    ],
    manual=[
        "from torch.cuda import CUDAGraph",
        "from torch.cuda import get_device_capability",
        "from torch.cuda import nccl, comm",
        "from torch.cuda.nccl import all_reduce",
        "from torch.cuda.memory import MemPool",
        "from torch.cuda import (\n    _lazy_call,  # private\n    device,\n)",
        "from torch.cuda import *",
        "from torch.cuda.amp import amp_definitely_not_available",
        "from torch.cuda.amp.grad_scaler import _refresh_per_optimizer_state",
    ],
    notes=[
        "if is_npu_available():\n    from torch.npu.amp import GradScaler\n"
        "else:\n    from torch.cuda.amp import GradScaler",
        "from torch.cuda.amp.grad_scaler import OptState",
    ],
    valid=[
        "import torch.cuda",
        "import torch.cuda as tc",
        "import torch.cuda.nccl as nccl",
        "from torch import cuda",
        "from torch.cuda import amp, nvtx",
        "from torch.cuda.nvtx import range_push",
        "from torch.cuda import memory, random, streams",
        "from numba import cuda",
        "from .cuda import synchronize",
        "from pkg.torch.cuda import Stream",
    ],
)
def cuda_import(imported: Imported) -> ImportOutcome:
    """Import what the shim mirrors of torch.cuda from the shim.

    `from torch.cuda.amp import autocast` becomes `from porter_runtime import autocast`: the name
    stays bound as it was, under the same alias, so that nothing that uses it has to change. In a
    `try` the import still raises ImportError where the installed torch lacks the name. One
    statement that mixes names which the shim has and lacks becomes two.

    On CUDA the imported objects are the same as before.

    Left as it is: an import in a choice that has a branch for the NPU.

    Imports of modules stay (`import torch.cuda`, `from torch import cuda`): what is used through
    them is ported at its use. Names without a meaning off CUDA and star imports stay as well, and
    are reported.
    """
    if not imported.is_from or not f"{imported.qualified}.".startswith("torch.cuda."):
        return None
    if "npu_aware" in imported.flags:
        return NPU_HANDLED
    name = at_home(imported.qualified[len("torch.cuda.") :])
    if name.endswith("*"):
        return Manual(_STAR)
    if name in _MODULES or name.startswith("nvtx."):
        return None
    attribute = AMP.get(name) or shim_name(name)
    if attribute is not None:
        return Mirrored(attribute)
    if name == OPT_STATE:
        return Note(OPT_STATE_IS_SHARED)
    return Manual(why_refused(name) or f"torch.cuda.{name} {MOVED_FROM_AMP.get(name, INSIDE_AMP)}")
