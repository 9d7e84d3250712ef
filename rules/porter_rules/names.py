"""The names of torch.cuda: those that the shim mirrors, and those without a meaning off CUDA.

Names are written as they stand behind `torch.cuda.`. Each public one is in exactly one of the
tables here (a test walks the installed torch); torch.cuda.amp has rules of its own.
"""

from __future__ import annotations

import libcst as cst

from porter.rule import Context
from porter_runtime._names import MIRRORED as SHIM_NAMES
from porter_runtime._names import STORAGE_TYPES, TENSOR_TYPES

LEGACY_TYPES = TENSOR_TYPES | STORAGE_TYPES
"""The legacy tensor and storage types: mirrored, but what they are asked for differs off CUDA."""

_NOT_A_PLAIN_NAME = frozenset({"get_device_capability"})

NVTX = frozenset({"mark", "range", "range_end", "range_pop", "range_push", "range_start"})
"""What of torch.cuda.nvtx the shim has, under `nvtx`."""

MIRRORED = {name: name for name in SHIM_NAMES - LEGACY_TYPES - _NOT_A_PLAIN_NAME}
"""The shim's name for each name of torch.cuda that it mirrors."""

MIRRORED |= {f"nvtx.{name}": f"nvtx.{name}" for name in NVTX}
MIRRORED |= {
    # All that torch.cuda.init does is to call it.
    "_lazy_init": "init",
}

AMP = {
    "amp.autocast": "autocast",
    "amp.autocast_mode.autocast": "autocast",
    "amp.GradScaler": "GradScaler",
    "amp.grad_scaler.GradScaler": "GradScaler",
    "amp.custom_fwd": "custom_fwd",
    "amp.autocast_mode.custom_fwd": "custom_fwd",
    "amp.custom_bwd": "custom_bwd",
    "amp.autocast_mode.custom_bwd": "custom_bwd",
}
"""The shim's name for each class and function of torch.cuda.amp that it has."""

INSIDE_AMP = (
    "belongs to the inside of CUDA's mixed precision: use the shim's autocast, GradScaler, "
    "custom_fwd and custom_bwd"
)
"""Why another name of torch.cuda.amp is left; stands behind the name."""

MOVED_FROM_AMP = {
    "amp.grad_scaler._refresh_per_optimizer_state": (
        "is private, and defined in torch.amp.grad_scaler since torch 2.3, without anything of "
        "CUDA: import it from there"
    ),
}
"""Why a name of torch.cuda.amp is left that is no more of CUDA; stands behind the name."""

OPT_STATE = "amp.grad_scaler.OptState"
OPT_STATE_IS_SHARED = (
    "OptState is a plain enum, which the GradScaler of every device uses: since torch 2.3 it is "
    "defined in torch.amp.grad_scaler, and is the same under both addresses"
)

HOMES = frozenset({"graphs", "memory", "random", "streams"})
"""Submodules in which names of torch.cuda are defined: `torch.cuda.memory.empty_cache`."""

ON_CUDA_ALONE = 'keep it under `if accel.device_type == "cuda":`'
"""The next step for code that only NVIDIA's devices can run."""

_REASONS = (
    (
        "get_device_capability",
        "tells NVIDIA's compute capability, which other devices lack: ask for the feature that is "
        f"meant (accel.is_bf16_supported(), device_type), or {ON_CUDA_ALONE}",
    ),
    (
        "CUDAGraph graph graph_pool_handle graphs make_graphed_callables",
        "captures CUDA graphs, and other devices capture and replay in ways of their own: run "
        f"without graphs there, and {ON_CUDA_ALONE}",
    ),
    (
        "MemPool use_mem_pool MemPoolContext CUDAPluggableAllocator change_current_allocator "
        "get_allocator_backend caching_allocator_alloc caching_allocator_delete "
        "caching_allocator_disabled caching_allocator_enable",
        "reaches into CUDA's caching allocator, which other devices don't share: leave the memory "
        f"to their own allocator, and {ON_CUDA_ALONE}",
    ),
    (
        "host_memory_stats host_memory_stats_as_nested_dict reset_accumulated_host_memory_stats "
        "reset_peak_host_memory_stats",
        "counts pinned host memory, which torch_npu does from 2.13 on only: drop the figure, or "
        f"{ON_CUDA_ALONE}",
    ),
    (
        "device_memory_used",
        "asks NVIDIA's driver for the memory in use: take `total - free` of accel.mem_get_info()",
    ),
    (
        "list_gpu_processes memory_usage temperature power_draw clock_rate",
        "asks NVIDIA's driver for a figure of the card: read it with the vendor's own tool "
        f"(npu-smi on Ascend), and {ON_CUDA_ALONE}",
    ),
    (
        "get_arch_list get_gencode_flags DEVICE_REQUIREMENT PYTORCH_RELEASES_CODE_CC",
        "describes the NVIDIA chips that torch was compiled for: ask for the feature that is "
        f"meant, or {ON_CUDA_ALONE}",
    ),
    (
        "has_half has_magma",
        "tells how torch was built for CUDA and is constant in every supported version: drop the "
        "test",
    ),
    (
        "cudart check_error cudaStatus CudaError DeferredCudaCallError",
        "belongs to the CUDA runtime library, which other devices don't have: for errors catch "
        f"RuntimeError, for the rest {ON_CUDA_ALONE}",
    ),
    (
        "AcceleratorError",
        "is torch's error of any accelerator under its old address: write torch.AcceleratorError",
    ),
    (
        "current_blas_handle current_solver_handle ExternalStream get_stream_from_external",
        "passes a raw CUDA handle to or from compiled code: that code has to be ported first, so "
        f"{ON_CUDA_ALONE}",
    ),
    (
        "GreenContext green_contexts",
        f"divides an NVIDIA GPU into parts, which other devices can't do: {ON_CUDA_ALONE}",
    ),
    (
        "nccl",
        "drives NCCL inside one process: use torch.distributed with accel.dist_backend()",
    ),
    (
        "comm",
        "holds the primitives of DataParallel, which run on CUDA only: use "
        "DistributedDataParallel, one process a device",
    ),
    (
        "sparse",
        "holds legacy types of sparse CUDA tensors: use torch.sparse_coo_tensor(..., "
        "device=accel.device_type)",
    ),
    (
        "profiler",
        "drives NVIDIA's profiler: use torch.profiler with accel.profiler_activities(), or "
        f"{ON_CUDA_ALONE}",
    ),
    (
        "jiterator",
        f"compiles CUDA source text: write the function with torch's operators, or {ON_CUDA_ALONE}",
    ),
    (
        "tunable",
        f"tunes matrix kernels of CUDA and ROCm: {ON_CUDA_ALONE}",
    ),
    (
        "gds",
        f"reads files through NVIDIA's GPUDirect Storage: read them plainly, or {ON_CUDA_ALONE}",
    ),
    (
        "Device classproperty error",
        "is no public name of torch.cuda but something that it uses itself: take it from where it "
        "is defined",
    ),
    (
        "_sleep",
        "keeps an NVIDIA GPU busy for some clock cycles, a means of tests: wait with a large "
        f"matrix product instead, or {ON_CUDA_ALONE}",
    ),
    (
        "_initialized",
        "is private to torch.cuda: ask accel.is_initialized(), which is false in a forked process "
        "as well",
    ),
    (
        "memory._record_memory_history memory._snapshot memory._dump_snapshot",
        "records the history of CUDA's caching allocator in a format of its own: use the "
        f"vendor's memory profiler elsewhere, and {ON_CUDA_ALONE}",
    ),
)

REFUSED = {name: reason for names, reason in _REASONS for name in names.split()}
"""Why each name without a meaning off CUDA is left, and what to do; stands behind the name."""

_PRIVATE = (
    "is private to torch.cuda and may change with every release: find the public call that does "
    f"the same and is mirrored, or {ON_CUDA_ALONE}"
)
_UNKNOWN = (
    "is no name of torch.cuda that porter knows, so that its meaning on other devices is open: "
    f"look it up in the device's own module, and {ON_CUDA_ALONE}"
)


def torch_cuda_name(node: cst.CSTNode | None, ctx: Context) -> str | None:
    """Return what follows `torch.cuda.` in the meaning of a name or attribute chain.

    None where it means something else; "" for the module itself. A name's home is left out:
    `torch.cuda.memory.empty_cache` is "empty_cache".
    """
    qualified = ctx.qualified(node)
    if qualified == "torch.cuda":
        return ""
    if qualified is None or not qualified.startswith("torch.cuda."):
        return None
    return at_home(qualified.removeprefix("torch.cuda."))


def mirrors(qualified: str, name: str = "") -> bool:
    """Whether a dotted name is torch.cuda's, or the shim's, installed or vendored.

    With `name`, whether it is this one of them.
    """
    module, _, last = qualified.rpartition(".")
    home = module if module == "torch.cuda" else module.rpartition(".")[2]
    return home in _MIRRORING and name in ("", last)


_MIRRORING = frozenset({"torch.cuda", "porter_runtime", "_accel"})


def is_call(node: cst.CSTNode, name: str, ctx: Context) -> bool:
    """Whether the node calls this name of torch.cuda."""
    return isinstance(node, cst.Call) and torch_cuda_name(node.func, ctx) == name


def at_home(name: str) -> str:
    """Return a name without the submodule of torch.cuda in which it is defined.

    Private names keep theirs.
    """
    home, _, rest = name.partition(".")
    public = rest and not rest.startswith("_")
    return rest if home in HOMES and public else name


def shim_name(name: str) -> str | None:
    """Return the shim's name for a name of torch.cuda, None where it has none."""
    return MIRRORED.get(name) or (name if name in LEGACY_TYPES else None)


def why_refused(name: str) -> str | None:
    """Return why a name has no twin in the shim, None where it has one or AMP's rules speak.

    What hangs on a mirrored name (`Event.record`) belongs to it.
    """
    head = name.partition(".")[0]
    if head == "amp" or name in MIRRORED or (head in MIRRORED and head != "nvtx"):
        return None
    if head in LEGACY_TYPES:
        return None
    reason = REFUSED.get(name) or REFUSED.get(head)
    if reason is None:
        reason = _PRIVATE if "._" in f".{name}" else _UNKNOWN
    return f"torch.cuda.{name} {reason}"
