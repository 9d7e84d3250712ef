"""Extensions and kernels that are built for CUDA."""

from __future__ import annotations

import libcst as cst

from porter.rule import (
    Context,
    Imported,
    ImportOutcome,
    Manual,
    Note,
    Outcome,
    import_rule,
    rule,
)
from porter_rules.leaving import cuda_only
from porter_rules.nodes import argument

_MODULE = "torch.utils.cpp_extension."
_LOADERS = (f"{_MODULE}load", f"{_MODULE}load_inline")


@rule(
    "PTR702",
    on=(cst.Call, cst.Attribute),
    needs=(),
    manual=[
        "from torch.utils.cpp_extension import CUDAExtension\n"
        'ext = CUDAExtension("roi", ["roi.cpp", "roi.cu"])\n',
        "import torch.utils.cpp_extension as ext\nm = ext.CUDAExtension(name, sources)\n",
        "from torch.utils.cpp_extension import load\n"
        'ops = load(name="ops", sources=["ops.cpp", "ops.cu"])\n',
        "from torch.utils import cpp_extension\nops = cpp_extension.load(name, sources)\n",
        "from torch.utils.cpp_extension import load_inline\n"
        "ops = load_inline(name, cpp_sources=c, cuda_sources=k)\n",
        "import torch\nif torch.cuda.is_available():\n"
        "    modules = [torch.utils.cpp_extension.CUDAExtension(name, sources)]\n",
        "import triton\n@triton.jit\ndef kernel(x):\n    pass\n",
    ],
    notes=[
        "from torch.utils.cpp_extension import load\n"
        'ops = load(name="ops", sources=["ops.cpp", "more.cc"])\n',
        "from torch.utils.cpp_extension import load_inline\n"
        "ops = load_inline(name, cpp_sources=c)\n",
    ],
    valid=[
        "import torch\n@torch.jit.script\ndef f(x):\n    return x  # triton.jit, cuda\n",
        "import json\nx = json.load(cuda_file)\n",
    ],
)
def cuda_extension(
    original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context
) -> Outcome:
    """Point out extensions and kernels that are compiled for CUDA.

    `CUDAExtension(...)`, `cpp_extension.load(...)` with CUDA sources and `@triton.jit` need
    NVIDIA's compiler and driver. None of it can be ported by rewriting Python: keep it under a
    test for CUDA, give other devices a version in torch operators, or write the kernel for
    Ascend as well (Ascend C; triton-ascend for Triton). A test for CUDA around such a build is
    left as it is.
    """
    if isinstance(original, cst.Attribute):
        if ctx.qualified(original) != "triton.jit":
            return None
        return Manual(
            "a Triton kernel runs on Ascend only with triton-ascend installed: keep a version in "
            "torch operators for where it isn't"
        )
    assert isinstance(original, cst.Call)
    callee = ctx.callee(original)
    if callee == f"{_MODULE}CUDAExtension":
        return cuda_only(
            "CUDAExtension needs nvcc: build it only where CUDA is, with a CppExtension or torch "
            "operators elsewhere",
            ctx,
        )
    if callee not in _LOADERS:
        return None
    if _is_cpp(original, callee):
        return Note(f"{callee.rpartition('.')[2]}() builds C++ sources alone here")
    return cuda_only(
        f"{callee.rpartition('.')[2]}() builds CUDA sources, which needs nvcc: build them only "
        "where CUDA is, and use torch operators elsewhere",
        ctx,
    )


def _is_cpp(call: cst.Call, callee: str) -> bool:
    """Whether all sources can be seen, and none is CUDA's."""
    if any(a.star for a in call.args):
        return False
    if callee.endswith("load_inline"):
        return argument(call, "cuda_sources", 2) is None
    sources = argument(call, "sources", 1)
    if sources is None or not isinstance(sources.value, cst.List | cst.Tuple):
        return False
    names = [e.value for e in sources.value.elements]
    return all(
        isinstance(n, cst.SimpleString) and str(n.raw_value).endswith((".cpp", ".cc", ".cxx", ".c"))
        for n in names
    )


@import_rule(
    "PTR708",
    notes=[
        "from torch.utils.cpp_extension import CppExtension, CUDAExtension\n"
        "extension = CUDAExtension\n",
    ],
    valid=["from torch.utils.cpp_extension import CppExtension  # cuda\n"],
)
def cuda_extension_import(imported: Imported) -> ImportOutcome:
    """Note where CUDAExtension is imported, since it may be chosen without being called.

    The import works everywhere; what is built with the class needs nvcc. Setup scripts pick it
    with `extension = CUDAExtension`, under a test that has to go on asking for CUDA.
    """
    if imported.qualified != f"{_MODULE}CUDAExtension":
        return None
    return Note(
        "CUDAExtension can be imported anywhere and builds with nvcc alone: choose CppExtension "
        "where CUDA is missing"
    )
