"""Switches of cuDNN and of CUDA's matrix and attention kernels."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Note, Outcome, rule
from porter_rules.leaving import cuda_only
from porter_rules.telling import is_told

_FAMILIES = ("torch.backends.cudnn", "torch.backends.cuda")
_ASKS = {
    "torch.backends.cudnn.is_available": "asks for cuDNN",
    "torch.backends.cudnn.version": "asks for cuDNN's version, None elsewhere",
    "torch.backends.cudnn.is_acceptable": "asks whether cuDNN takes a tensor",
    "torch.backends.cuda.is_built": "asks whether torch was built for CUDA",
    "torch.backends.cuda.can_use_flash_attention": "asks for a kernel of CUDA",
    "torch.backends.cuda.can_use_efficient_attention": "asks for a kernel of CUDA",
    "torch.backends.cuda.can_use_cudnn_attention": "asks for a kernel of CUDA",
    "torch.backends.cuda.is_flash_attention_available": "asks for a kernel of CUDA",
}
_RAISES = ("torch.backends.cuda.cufft_plan_cache", "torch.backends.cuda.preferred_linalg_library")


@rule(
    "PTR605",
    on=(cst.Attribute, cst.Call),
    needs=("backends",),
    manual=[
        "import torch\nassert torch.backends.cudnn.is_available()  # CUDA\n",
        "import torch\nif torch.backends.cudnn.version() >= 8000:  # CUDA\n    pass\n",
        "import torch\nok = torch.backends.cuda.is_built()\n",
        "import torch\ntorch.backends.cuda.cufft_plan_cache.max_size = 8\n",
    ],
    notes=[
        "import torch\nprint(torch.backends.cudnn.version())  # CUDA\n",
        "import torch\ntorch.backends.cuda.matmul.allow_tf32 = True\n",
        "import torch\nwith torch.backends.cuda.sdp_kernel(enable_math=False):\n    f()\n",
        "import torch\ntorch.backends.cudnn.benchmark = True  # CUDA\n",
        "import torch.backends.cudnn as cudnn\nwith cudnn.flags(enabled=False):  # CUDA\n    f()\n",
        "import torch\nwith torch.backends.cudnn.flags(enabled=False):  # CUDA\n    f()\n",
    ],
    valid=[
        "import torch\ntorch.backends.mps.is_available()  # not cuda\n",
        "self.backends.cuda.x = 1\n",
    ],
)
def backend_flags(
    original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context
) -> Outcome:
    """Leave the switches of torch.backends.cudnn and torch.backends.cuda.

    `benchmark`, `deterministic`, `allow_tf32`, `sdp_kernel(...)` and the like can be set
    anywhere and only act on CUDA: they stay, and are noted in files that are ported. What asks
    for cuDNN or CUDA (`cudnn.is_available()`, `cudnn.version()`, `cuda.is_built()`) is left to a
    person, and so is what raises without CUDA (`cufft_plan_cache`, `preferred_linalg_library`).
    """
    if isinstance(original, cst.Call):
        return _question(original, ctx)
    if not isinstance(original, cst.Attribute) or isinstance(ctx.parent, cst.Attribute):
        return None  # the whole chain speaks
    qualified = ctx.qualified(original) or ""
    if qualified in _ASKS or not qualified.startswith(_FAMILIES):
        return None
    name = qualified.removeprefix("torch.backends.")
    if qualified.startswith(_RAISES):
        return cuda_only(f"{name} raises without CUDA: keep it under a test for CUDA", ctx)
    return Note(f"{name} acts on CUDA alone and does no harm elsewhere")


def _question(call: cst.Call, ctx: Context) -> Outcome:
    qualified = ctx.callee(call)
    if qualified not in _ASKS:
        return None
    name = qualified.removeprefix("torch.backends.")
    if is_told(ctx.role(call)):
        return Note(f"{name} {_ASKS[qualified]}, and the answer is only recorded")
    return cuda_only(
        f"{name} {_ASKS[qualified]}: keep it where NVIDIA is meant, "
        "and ask accel.is_available() where any accelerator will do",
        ctx,
    )
