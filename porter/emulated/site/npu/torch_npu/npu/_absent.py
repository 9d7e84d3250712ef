"""What the real package has and the emulated one refuses, with an error that says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


def stand_in(name: str) -> Callable[..., NoReturn] | type:
    """Makes a function, or a class for a name in capitals, that raises NotImplementedError.

    `name` is the full name. Classes stay usable in annotations and isinstance().
    """

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"{name} needs a real Ascend NPU: this one is emulated")

    leaf = name.rpartition(".")[2]
    if leaf[0].isupper():
        return type(leaf, (), {"__new__": refuse})
    refuse.__name__ = refuse.__qualname__ = leaf
    return refuse


# Names of torch_npu.npu.__all__ (2.13.0) that mean hardware or the CANN runtime.
NAMES = (
    "set_dump",
    "init_dump",
    "finalize_dump",
    "caching_allocator_alloc",
    "caching_allocator_delete",
    "empty_virt_addr_cache",
    "memory_snapshot",
    "MemPool",
    "use_mem_pool",
    "NPUPluggableAllocator",
    "change_current_allocator",
    "set_aoe",
    "get_npu_overflow_flag",
    "clear_npu_overflow_flag",
    "stress_detect",
    "current_blas_handle",
    "stop_device",
    "restart_device",
    "check_uce_in_memory",
    "NPUGraph",
    "graph",
    "graph_pool_handle",
    "make_graphed_callables",
    "ExternalEvent",
    "ExternalStream",
    "SyncLaunchStream",
    "graph_task_group_begin",
    "graph_task_group_end",
    "graph_task_update_begin",
    "graph_task_update_end",
    "set_device_limit",
    "get_device_limit",
    "set_stream_limit",
    "reset_stream_limit",
    "get_stream_limit",
    "obfuscation_initialize",
    "obfuscation_finalize",
    "obfuscation_calculate",
    "set_op_timeout_ms",
    "host_memory_stats",
    "host_memory_stats_as_nested_dict",
    "reset_accumulated_host_memory_stats",
    "reset_peak_host_memory_stats",
    "NpuGraphOpHandler",
    "register_npu_graph_handler",
    "super_kernel_scope_begin",
    "super_kernel_scope_end",
    "npurt",
)
