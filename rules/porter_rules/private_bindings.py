"""CUDA's functions in torch's private module `torch._C`."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Outcome, rule
from porter_rules.leaving import NPU_HANDLED, cuda_only

_PREFIXES = ("torch._C._cuda_", "torch._C._cudart", "torch._C._nccl_", "torch._C._CUDA")


@rule(
    "PTR612",
    on=cst.Attribute,
    needs=("_C", "has_cuda"),
    manual=[
        "import torch\ntorch._C._cuda_clearCublasWorkspaces()\n",
        "from torch import _C\n_C._cuda_setRNGState(state)\n",
        "import torch\nfree = torch._C._cuda_cudaCachingAllocator_raw_delete\n",
        "import torch\nif torch.has_cuda:\n    pass\n",
    ],
    valid=[
        "import torch\ntorch._C._log_api_usage_once('cuda')\n",
        "from torch import _C\nok = hasattr(_C, '_cuda_setRNGState')\n",
    ],
)
def private_bindings(original: cst.Attribute, updated: cst.Attribute, ctx: Context) -> Outcome:
    """Report CUDA's private functions in torch._C, and `torch.has_cuda`.

    `torch._C._cuda_...` and `torch._C._nccl_...` are the functions behind torch.cuda and NCCL. They
    are missing where torch is built without CUDA, and change between versions of torch, so the shim
    has none of them: call the public function of torch.cuda, which porter ports, or keep the line
    under a test for CUDA. `torch.has_cuda` says how torch was built, not what is there. A
    `hasattr(torch._C, "_cuda_...")` has the right answer everywhere and stays.
    """
    qualified = ctx.qualified(original) or ""
    if qualified == "torch.has_cuda":
        why = (
            "torch.has_cuda says whether torch was built for CUDA, and is False on an NPU: "
            "ask accel.is_available() for an accelerator, or keep it where NVIDIA is meant"
        )
    elif qualified.startswith(_PREFIXES) and not isinstance(ctx.parent, cst.Attribute):
        name = qualified.removeprefix("torch.")
        why = (
            f"{name} is private to torch and missing where it is built without CUDA: call the "
            'public function of torch.cuda, or keep it under `if accel.device_type == "cuda":`'
        )
    else:
        return None
    return NPU_HANDLED if ctx.within("npu_aware") else cuda_only(why, ctx)
