"""Imports of packages that need NVIDIA's CUDA."""

from __future__ import annotations

from porter.rule import Imported, ImportOutcome, Manual, Note, import_rule
from porter_rules.cuda_packages import COMPILED, CUDA_ONLY, MODULES, PORTABLE

_PLACES = {
    "try": "the import stands in a try statement",
    "if": "the import is conditional",
    "function": "the import only runs when this function is called",
    "type_checking": "the import is for type checkers alone",
}


@import_rule(
    "PTR701",
    manual=[
        "from flash_attn import flash_attn_func\n",
        "import bitsandbytes as bnb\n",
        "from apex.normalization import FusedLayerNorm\n",
        "import transformer_engine.pytorch as te\n",
        "import triton\n",
        "from triton import language as tl\n",
        "import cupy as cp\n",
        "from numba import cuda\n",
        "import numba.cuda\n",
        "import pynvml\n",
        "from nvidia.dali import pipeline_def\n",
        "from cuda import cudart\n",
        "import tensorrt\n",
        "import fused_weight_gradient_mlp_cuda\n",
        "class A:\n    import xformers\n",
    ],
    notes=[
        "try:\n    import flash_attn\nexcept ImportError:\n    flash_attn = None\n",
        "if use_apex:\n    from apex import amp\n",
        "def f():\n    import bitsandbytes as bnb\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import cupy\n",
        "import deepspeed\n",
        "from vllm import LLM\n",
        "def f():\n    import deepspeed\n",
        "try:\n    import fused_layer_norm_cuda\nexcept ImportError:\n    pass\n",
    ],
    valid=[
        "from .apex import amp  # cuda\n",
        "import apexcharts  # cuda\n",
        "from flair.data import Sentence  # cuda\n",
        "from pkg.ops.roi_cuda import roi_cuda_forward\n",
        "from utils import move_to_cuda\n",
        "from cuda import helpers\n",
        "import numba  # cuda\n",
        "import torch.cuda\n",
    ],
)
def third_party_imports(imported: Imported) -> ImportOutcome:
    """Sort imports of CUDA-only packages by whether they block a port.

    A package such as flash_attn, apex, bitsandbytes, triton or cupy can't be installed, or does
    nothing, where CUDA is missing. Imported unguarded at the top of a module it stops the whole
    program there: left to a person, with what to use on an Ascend NPU. In a `try`, an `if`, a
    function or under TYPE_CHECKING it doesn't, and is noted. Packages that run on Ascend by
    themselves or with a plugin (deepspeed, vllm) are noted wherever they stand. Nothing is
    replaced: layouts and arguments of the replacements differ.
    """
    package = imported.qualified.partition(".")[0]
    if package in PORTABLE:
        return Note(f"{package} is known for CUDA: {PORTABLE[package]}")
    found = _cuda_only(imported, package)
    if found is None:
        return None
    name, advice = found
    place = _PLACES.get(imported.placement)
    if place is None:
        return Manual(
            f"{name} is CUDA's, and this unguarded import stops the program where it is not "
            f"installed: import it only where it is used, and use elsewhere {advice}"
        )
    return Note(f"{name} is CUDA's, but {place}; elsewhere use {advice}")


def _cuda_only(imported: Imported, package: str) -> tuple[str, str] | None:
    """Return a CUDA-only package or module and what to use instead, None for any other."""
    if package in CUDA_ONLY:
        return package, CUDA_ONLY[package]
    for module, advice in MODULES.items():
        if imported.qualified == module or imported.qualified.startswith(f"{module}."):
            return module, advice
    whole = not imported.is_from and "." not in imported.qualified
    if whole and COMPILED.fullmatch(imported.qualified):
        return imported.qualified, "a version in torch operators, or an Ascend C kernel"
    return None
