"""Names of torch.cuda that the shim mirrors."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from porter.rule import Context, Outcome, Ported, Role, rule
from porter_rules.availability import choices
from porter_rules.leaving import BUILDS_CUDA, CUDA_BRANCH, FUSED, NPU_HANDLED, decides_fused
from porter_rules.names import MIRRORED, torch_cuda_name

_QUESTIONS = frozenset({"is_available", "device_count"})
_ASSERTED = Role("test", name="assert")
_REFUSES = (
    "this assertion still refuses to run without an accelerator, as it was meant to: "
    "drop it if the code is to run on the CPU as well"
)


@rule(
    "PTR201",
    on=(cst.Attribute, cst.Call),
    rewrites=[
        ("import torch\ntorch.cuda.synchronize()", "import torch\naccel.synchronize()"),
        ("torch.cuda.set_device(rank)", "accel.set_device(rank)"),
        ("torch.cuda.manual_seed_all(0)", "accel.manual_seed_all(0)"),
        ("n = torch.cuda.device_count()", "n = accel.device_count()"),
        ("if torch.cuda.device_count() == 0:\n    pass", "if accel.device_count() == 0:\n    pass"),
        ("use_cuda = torch.cuda.is_available()", "use_cuda = accel.is_available()"),
        (
            "if torch.cuda.is_available() and not args.no_cuda:\n    torch.cuda.empty_cache()",
            "if accel.is_available() and not args.no_cuda:\n    accel.empty_cache()",
        ),
        (
            "with torch.cuda.stream(s), torch.cuda.device(i):\n    pass",
            "with accel.stream(s), accel.device(i):\n    pass",
        ),
        (
            "def f(s: torch.cuda.Stream) -> list[torch.cuda.Event]: ...",
            "def f(s: accel.Stream) -> list[accel.Event]: ...",
        ),
        (
            "try:\n    pass\nexcept (ValueError, torch.cuda.OutOfMemoryError):\n    pass",
            "try:\n    pass\nexcept (ValueError, accel.OutOfMemoryError):\n    pass",
        ),
        ("isinstance(s, torch.cuda.Stream)", "isinstance(s, accel.Stream)"),
        (
            'table = {"sync": torch.cuda.synchronize}',
            'table = {"sync": accel.synchronize}',
        ),
        (
            '@unittest.skipUnless(torch.cuda.is_available(), "no GPU")\ndef test(): ...',
            '@unittest.skipUnless(accel.is_available(), "no GPU")\ndef test(): ...',
        ),
        (
            "print(f\"{torch.cuda.memory_allocated() / 2**20:.0f} MB on {d['x']}\")",
            "print(f\"{accel.memory_allocated() / 2**20:.0f} MB on {d['x']}\")",
        ),
        ("torch.cuda.nvtx.range_push(name)", "accel.nvtx.range_push(name)"),
        (
            "from torch.cuda.nvtx import range as span\nwith span(name):\n    pass",
            "from torch.cuda.nvtx import range as span\nwith accel.nvtx.range(name):\n    pass",
        ),
        ("torch.cuda.memory.empty_cache()", "accel.empty_cache()"),
        ("assert torch.cuda.is_available()", "assert accel.is_available()"),
        ("torch.cuda.random.get_rng_state_all()", "accel.get_rng_state_all()"),
        ("torch.cuda._lazy_init()", "accel.init()"),
        (
            "import torch as th\nth.cuda.synchronize()",
            "import torch as th\naccel.synchronize()",
        ),
        (
            "import torch.cuda as tc\ntc.synchronize()",
            "import torch.cuda as tc\naccel.synchronize()",
        ),
        (
            "from torch import cuda\nn = cuda.device_count()",
            "from torch import cuda\nn = accel.device_count()",
        ),
    ],
    notes=[
        "opt = AdamW(params, fused=torch.cuda.is_available())",
        "if is_npu_available():\n    pass\nelif torch.cuda.is_available():\n    pass",
        "if t.device.type == 'cuda':\n    torch.cuda.nvtx.range_push('f')",
        "import torch\nfrom torch.utils.cpp_extension import CppExtension, CUDAExtension\n"
        "if torch.cuda.is_available() or FORCE_CUDA:\n    extension = CUDAExtension\n",
        "import torch\nfrom torch.utils import cpp_extension\n"
        "use_cuda = torch.cuda.is_available() and CUDA_HOME is not None\n"
        "ext = cpp_extension.CUDAExtension if use_cuda else cpp_extension.CppExtension\n",
        "from torch.utils.cpp_extension import CppExtension, CUDAExtension\n"
        "extension = CUDAExtension if torch.cuda.is_available() else CppExtension",
    ],
    manual=[
        "torch.cuda.is_available = lambda: False",
        "@torch.jit.script\ndef f(x):\n    torch.cuda.synchronize()",
    ],
    valid=[
        "from numba import cuda\ncuda.synchronize()",
        "import cupy\ncupy.cuda.Stream.null.synchronize()",
        "def f(torch):\n    torch.cuda.synchronize()",
        "cuda = device.type != 'cpu'\nscaler = GradScaler(enabled=cuda)",
        "cfg.cuda.visible = '0'",
        "self.backend.cuda.synchronize()",
        "torch.backends.cuda.matmul.allow_tf32 = True",
        "torch.cuda.amp.autocast()",
        '"""Call torch.cuda.synchronize() first."""',
        "print('torch.cuda.synchronize() is slow')",
    ],
)
def cuda_name(original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context) -> Outcome:
    """Take a name of torch.cuda that has a meaning on every device from the shim.

    `torch.cuda.synchronize()` becomes `accel.synchronize()`, and so with each name that the shim
    mirrors, wherever it stands: called, handed on, as an annotation, a decorator, in `with` and
    `except`. The spelling stays, so that the diff can be checked by eye.

    On CUDA the shim's names are torch.cuda's own objects. On an NPU they are torch.npu's, and
    without an accelerator each answers as torch.cuda does there, or does its job on the CPU.

    A test for CUDA is only ported where what it guards can be ported as well; NVTX ranges in a
    branch that is for CUDA alone stay, and so does the question in a script that builds CUDA
    sources, whose answer picks nvcc. `assert torch.cuda.is_available()` still refuses to run
    without an accelerator, which the finding says. Assignments to a name of torch.cuda and the
    bodies of TorchScript functions are left: port them by hand. Names that only CUDA has are
    PTR202's.
    """
    if isinstance(original, cst.Call):
        return _imported_from_nvtx(original, updated, ctx)
    name = torch_cuda_name(original, ctx)
    if name not in MIRRORED or (name == "nvtx" and isinstance(ctx.parent, cst.Attribute)):
        return None
    if ctx.within("npu_aware"):
        return NPU_HANDLED
    if ctx.within("cuda_branch"):
        return CUDA_BRANCH
    if name in _QUESTIONS and ctx.within("builds_cuda"):
        return BUILDS_CUDA
    node = _in_shim(MIRRORED[name], ctx)
    if name != "is_available":
        return node
    if _decides_fused(ctx):
        return FUSED
    own = (ctx.guard,) if ctx.guard is not None else ()
    return Ported(node, (*own, *choices(ctx)), _REFUSES if ctx.fragment_role == _ASSERTED else "")


def _decides_fused(ctx: Context) -> bool:
    call = ctx.parent
    around = replace(ctx, stack=ctx.stack[:-1])
    return isinstance(call, cst.Call) and decides_fused(around.role(call))


def _imported_from_nvtx(original: cst.Call, updated: cst.CSTNode, ctx: Context) -> Outcome:
    """Port `range_push(name)`: the shim's nvtx is no module to import it from."""
    name = torch_cuda_name(original.func, ctx) if isinstance(original.func, cst.Name) else None
    if name is None or not name.startswith("nvtx.") or name not in MIRRORED:
        return None
    return updated.with_changes(func=_in_shim(MIRRORED[name], ctx))


def _in_shim(name: str, ctx: Context) -> cst.Attribute:
    head, *rest = name.split(".")
    node = ctx.runtime(head)
    for attribute in rest:
        node = cst.Attribute(node, cst.Name(attribute))
    return node
