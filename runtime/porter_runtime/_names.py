"""Which names the shim has, and why it lacks the others: plain data that imports nothing.

Every public name of `torch.cuda` stands in exactly one of MIRRORED and REFUSED. Tools may load this
file by its path, without torch.
"""

from __future__ import annotations

from typing import Dict, FrozenSet

_DTYPES = ("BFloat16", "Bool", "Byte", "Char", "Double", "Float", "Half", "Int", "Long", "Short")

TENSOR_TYPES: FrozenSet[str] = frozenset(dtype + "Tensor" for dtype in _DTYPES)

# The legacy typed storages; torch_npu has no complex ones.
STORAGE_TYPES: FrozenSet[str] = frozenset(
    dtype + "Storage" for dtype in (*_DTYPES, "ComplexDouble", "ComplexFloat")
)

_FUNCTIONS_AND_TYPES = """
    is_available device_count current_device set_device device device_of
    init is_initialized synchronize
    get_device_name get_device_properties get_device_capability
    is_bf16_supported is_tf32_supported can_device_access_peer utilization
    get_sync_debug_mode set_sync_debug_mode
    empty_cache ipc_collect mem_get_info
    memory_allocated max_memory_allocated memory_reserved max_memory_reserved
    memory_cached max_memory_cached
    memory_stats memory_stats_as_nested_dict memory_summary memory_snapshot
    reset_peak_memory_stats reset_accumulated_memory_stats
    reset_max_memory_allocated reset_max_memory_cached
    get_per_process_memory_fraction set_per_process_memory_fraction
    manual_seed manual_seed_all seed seed_all initial_seed default_generators
    get_rng_state get_rng_state_all set_rng_state set_rng_state_all
    Stream Event StreamContext stream set_stream current_stream default_stream
    is_current_stream_capturing
    OutOfMemoryError nvtx
"""

MIRRORED: FrozenSet[str] = TENSOR_TYPES | STORAGE_TYPES | frozenset(_FUNCTIONS_AND_TYPES.split())

_MIXED_PRECISION = """
    autocast GradScaler custom_fwd custom_bwd
    is_autocast_enabled get_autocast_gpu_dtype
"""
_LACKING_IN_TORCH = """
    device_type visible_devices_env
    torch_device is_accelerator dist_backend device_ids device_id device_map_value
    map_location pin_memory record_stream fork_rng profiler_activities is_out_of_memory
"""

# What the shim has beside torch.cuda's own names: six names of torch and torch.cuda.amp that stand
# for CUDA alone there, and some that torch lacks.
OWN: FrozenSet[str] = frozenset((_MIXED_PRECISION + _LACKING_IN_TORCH).split())

_FROM_SHIM = "a submodule of torch.cuda: take its functions from the shim itself"
_GRAPHS = (
    "CUDA graphs are captured and replayed differently elsewhere: keep this under "
    '`if accel.device_type == "cuda":`, or run without graphs'
)
_ALLOCATOR = (
    "it reaches into CUDA's caching allocator, which other devices don't share: "
    'keep it under `if accel.device_type == "cuda":`'
)
_NVML = "an NVML figure of NVIDIA's driver: read it with the vendor's tool (npu-smi on Ascend)"
_COMPILER = "it describes NVIDIA's compiler and chips: test for the feature that you need"
_HANDLE = "a raw CUDA handle for C extensions: other devices need their own extension"
_TUNING = 'it tunes kernels of CUDA and ROCm: keep it under `if accel.device_type == "cuda":`'
_HOST_STATS = "torch_npu has it from 2.13 on only: read torch.cuda's or torch.npu's own"
_PLUMBING = "torch.cuda's own plumbing, no public function of a device"

REFUSED: Dict[str, str] = {
    "amp": "use the shim's autocast, GradScaler, custom_fwd and custom_bwd",
    "memory": _FROM_SHIM,
    "random": _FROM_SHIM,
    "streams": _FROM_SHIM,
    "graphs": _GRAPHS,
    "CUDAGraph": _GRAPHS,
    "graph": _GRAPHS,
    "graph_pool_handle": _GRAPHS,
    "make_graphed_callables": _GRAPHS,
    "MemPool": _ALLOCATOR,
    "use_mem_pool": _ALLOCATOR,
    "MemPoolContext": _ALLOCATOR,
    "CUDAPluggableAllocator": _ALLOCATOR,
    "change_current_allocator": _ALLOCATOR,
    "get_allocator_backend": _ALLOCATOR,
    "caching_allocator_alloc": _ALLOCATOR,
    "caching_allocator_delete": _ALLOCATOR,
    "caching_allocator_disabled": _ALLOCATOR,
    "caching_allocator_enable": _ALLOCATOR,
    "host_memory_stats": _HOST_STATS,
    "host_memory_stats_as_nested_dict": _HOST_STATS,
    "reset_accumulated_host_memory_stats": _HOST_STATS,
    "reset_peak_host_memory_stats": _HOST_STATS,
    "list_gpu_processes": _NVML,
    "device_memory_used": "an NVML figure: use mem_get_info, which every device answers",
    "memory_usage": _NVML,
    "temperature": _NVML,
    "power_draw": _NVML,
    "clock_rate": _NVML,
    "get_arch_list": _COMPILER,
    "get_gencode_flags": _COMPILER,
    "DEVICE_REQUIREMENT": _COMPILER,
    "PYTORCH_RELEASES_CODE_CC": _COMPILER,
    "has_half": "always True in torch.cuda: drop the test",
    "has_magma": "it says how torch was built for CUDA: call the linear algebra function itself",
    "cudart": "the CUDA runtime library: there is no counterpart on other devices",
    "check_error": "it checks a CUDA runtime code: catch RuntimeError instead",
    "cudaStatus": "codes of the CUDA runtime: catch RuntimeError instead",
    "CudaError": "raised by the CUDA runtime alone: catch RuntimeError instead",
    "DeferredCudaCallError": "raised by CUDA's lazy start alone: catch RuntimeError instead",
    "AcceleratorError": "take torch.AcceleratorError, which every device raises",
    "current_blas_handle": _HANDLE,
    "current_solver_handle": _HANDLE,
    "ExternalStream": _HANDLE,
    "get_stream_from_external": _HANDLE,
    "GreenContext": "CUDA's own partitioning of a GPU: there is no counterpart on other devices",
    "green_contexts": "CUDA's own partitioning of a GPU: there is no counterpart on other devices",
    "nccl": "NCCL's single-process collectives: use torch.distributed with dist_backend()",
    "comm": "DataParallel's primitives, CUDA only: use DistributedDataParallel",
    "sparse": "legacy sparse tensor types of CUDA: use torch.sparse_coo_tensor with a device",
    "profiler": "it drives NVIDIA's profiler: use torch.profiler with profiler_activities()",
    "jiterator": "it compiles CUDA source text: write the function with torch operators",
    "tunable": _TUNING,
    "gds": "NVIDIA's GPUDirect Storage: use ordinary file reads off CUDA",
    "Device": _PLUMBING,
    "classproperty": _PLUMBING,
    "error": _PLUMBING,
}
