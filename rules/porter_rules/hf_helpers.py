"""Helpers of transformers that ask for CUDA alone."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Note, Outcome, Ported, rule

_MODULES = ("", ".utils", ".utils.import_utils", ".file_utils")
_MIRRORED = {
    "is_torch_bf16_gpu_available": "is_bf16_supported",
    "is_torch_cuda_available": "is_available",
}


@rule(
    "PTR705",
    on=cst.Call,
    needs=(),
    rewrites=[
        (
            "from transformers.utils import is_torch_bf16_gpu_available\n"
            "bf16 = is_torch_bf16_gpu_available()\n",
            "from transformers.utils import is_torch_bf16_gpu_available\n"
            "bf16 = accel.is_bf16_supported()\n",
        ),
        (
            "import torch\nfrom transformers.utils import is_torch_bf16_gpu_available as ok\n"
            "dtype = torch.bfloat16 if ok() else torch.float32\n",
            "import torch\nfrom transformers.utils import is_torch_bf16_gpu_available as ok\n"
            "dtype = torch.bfloat16 if accel.is_bf16_supported() else torch.float32\n",
        ),
        (
            "import transformers\nif transformers.utils.is_torch_cuda_available():\n    pass\n",
            "import transformers\nif accel.is_available():\n    pass\n",
        ),
    ],
    manual=[
        "from transformers.utils import is_torch_bf16_available\nok = is_torch_bf16_available()\n",
    ],
    notes=[
        "from transformers.utils import is_torch_tf32_available\nok = is_torch_tf32_available()\n",
    ],
    valid=[
        "def is_torch_bf16_gpu_available():\n    pass\nok = is_torch_bf16_gpu_available()\n",
        "from .utils import is_torch_bf16_gpu_available\nok = is_torch_bf16_gpu_available()\n",
        "from transformers.utils import is_torch_available\nok = is_torch_available()  # cuda\n",
    ],
)
def hf_helpers(original: cst.Call, updated: cst.Call, ctx: Context) -> Outcome:
    """Ask the accelerator that is there instead of transformers' CUDA-only helpers.

    `is_torch_bf16_gpu_available()` and `is_torch_cuda_available()` look at torch.cuda alone in
    most versions of transformers, so that `bf16="auto"` silently trains in float32 on an NPU.
    They become `accel.is_bf16_supported()` and `accel.is_available()`: torch.cuda's own answers
    on CUDA, False on the CPU. The import of the helper stays; drop it where nothing else uses it.
    `is_torch_tf32_available()` stays: TF32 is NVIDIA's, and False is right elsewhere.
    """
    prefix, _, name = ctx.callee(original).rpartition(".")
    if not prefix.startswith("transformers") or prefix[len("transformers") :] not in _MODULES:
        return None
    if name in _MIRRORED and not original.args:
        ported = updated.with_changes(func=ctx.runtime(_MIRRORED[name]))
        return Ported(ported, remark=f"drop the import of {name} where nothing else uses it")
    if name == "is_torch_bf16_available":
        return Manual(
            "is_torch_bf16_available() asks for the CPU or CUDA: ask accel.is_bf16_supported() "
            "for the accelerator that is there"
        )
    if name == "is_torch_tf32_available":
        return Note("TF32 is a mode of NVIDIA's chips: False is the right answer elsewhere")
    return None
