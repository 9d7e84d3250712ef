"""Names of torch.cuda without a meaning on other devices."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Outcome, rule
from porter_rules.leaving import CUDA_BRANCH, NPU_HANDLED, cuda_only
from porter_rules.names import HOMES, ON_CUDA_ALONE, torch_cuda_name, why_refused

_HANDLE = (
    "cuda_stream is the raw handle of a CUDA stream, for code that is compiled for CUDA: port that "
    f"code first (a stream of torch_npu has npu_stream), or {ON_CUDA_ALONE}"
)


@rule(
    "PTR202",
    on=(cst.Attribute, cst.Call),
    manual=[
        "import torch\nif torch.cuda.get_device_capability()[0] >= 8:\n    pass",
        "from torch.cuda import get_device_capability\nmajor, _ = get_device_capability()",
        "g = torch.cuda.CUDAGraph()",
        "with torch.cuda.graph(g, pool=torch.cuda.graph_pool_handle()):\n    pass",
        "torch.cuda.cudart().cudaProfilerStart()",
        "v = torch.cuda.nccl.version()",
        "torch.cuda.comm.broadcast(t, devices)",
        "pool: torch.cuda.MemPool",
        "torch.cuda.memory._record_memory_history(True)",
        "torch.cuda.memory.CUDAPluggableAllocator(path, a, b)",
        "torch.cuda.sparse.FloatTensor(i, v)",
        "torch.cuda.profiler.start()",
        "torch.cuda.nvtx.no_such_name()",
        "torch.cuda._lazy_call(f)",
        "if torch.cuda._initialized:\n    states = get_device_states(*args)",
        "torch.cuda.no_such_name()",
        "callback = torch.cuda.temperature",
        "launch(torch.cuda.current_stream(x.device).cuda_stream)",
        "from torch import cuda\ncuda.cudart()",
        "if torch.cuda.is_available():\n    major, _ = torch.cuda.get_device_capability()",
        "def is_fast():\n    if not torch.cuda.is_available():\n        return False\n"
        "    return torch.cuda.get_device_capability('cuda:0')[0] >= 8",
    ],
    notes=[
        "if is_npu_available():\n    pass\nelse:\n    torch.cuda.cudart()",
        "if device.type == 'cuda':\n    torch.cuda.cudart().cudaProfilerStart()",
    ],
    valid=[
        "torch.cuda.synchronize()",
        "torch.cuda.Event.record(e)",
        "torch.cuda.amp.common.amp_definitely_not_available()",
        "numba.cuda.jit(f)",
        "torch.cuda.FloatTensor(3)",
    ],
)
def cuda_only_name(
    original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context
) -> Outcome:
    """Report a name of torch.cuda that has no meaning on other devices.

    CUDA graphs, compute capability, the caching allocator, NCCL inside one process, raw handles
    and the like are CUDA's own. They are left as they are, with the reason and what to do
    instead; so is a name that porter doesn't know, and whatever is private to torch.cuda. A call
    of such a name is left with all its arguments.

    A test for CUDA around such a name, or one that returns before it where CUDA is missing, is left
    with it, unless what it guards moves data to the device as well. Nothing changes on CUDA. On
    other devices these lines raise: put them under a test of `accel.device_type`, or use what the
    message names.
    """
    if isinstance(original, cst.Call):
        name = torch_cuda_name(original.func, ctx)
    elif _is_raw_handle(original, ctx):
        return cuda_only(_HANDLE, ctx)
    elif _belongs_to_outer_node(original, ctx):
        return None
    else:
        name = torch_cuda_name(original, ctx)
    if not name or name in HOMES - {"graphs"}:
        return None
    why = why_refused(name)
    if why is None:
        return None
    if ctx.within("npu_aware"):
        return NPU_HANDLED
    return CUDA_BRANCH if ctx.within("cuda_branch") else cuda_only(why, ctx)


def _is_raw_handle(node: cst.BaseExpression, ctx: Context) -> bool:
    """Whether the node is `.cuda_stream` of a stream that torch.cuda gives here."""
    match node:
        case cst.Attribute(value=cst.Call(func=func), attr=cst.Name(value="cuda_stream")):
            return (torch_cuda_name(func, ctx) or "").endswith(("_stream", "Stream"))
    return False


def _belongs_to_outer_node(node: cst.CSTNode, ctx: Context) -> bool:
    """Whether the chain goes on, or is called: then that node is the one to speak about."""
    match ctx.parent:
        case cst.Attribute():
            return True
        case cst.Call(func=func):
            return func is node
    return False
