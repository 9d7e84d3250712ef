"""The names that the package looks up at their first use, with torch.cuda's types."""

from __future__ import annotations

from typing import (
    Any,
    Callable,
    ContextManager,
    Dict,
    Iterable,
    List,
    Optional,
    TypeVar,
    Union,
    overload,
)

import torch
from torch import BFloat16Tensor as BFloat16Tensor
from torch import BoolTensor as BoolTensor
from torch import ByteTensor as ByteTensor
from torch import CharTensor as CharTensor
from torch import DoubleTensor as DoubleTensor
from torch import FloatTensor as FloatTensor
from torch import HalfTensor as HalfTensor
from torch import IntTensor as IntTensor
from torch import LongTensor as LongTensor
from torch import ShortTensor as ShortTensor
from torch.cuda import BFloat16Storage as BFloat16Storage
from torch.cuda import BoolStorage as BoolStorage
from torch.cuda import ByteStorage as ByteStorage
from torch.cuda import CharStorage as CharStorage
from torch.cuda import ComplexDoubleStorage as ComplexDoubleStorage
from torch.cuda import ComplexFloatStorage as ComplexFloatStorage
from torch.cuda import DoubleStorage as DoubleStorage
from torch.cuda import Event as Event
from torch.cuda import FloatStorage as FloatStorage
from torch.cuda import HalfStorage as HalfStorage
from torch.cuda import IntStorage as IntStorage
from torch.cuda import LongStorage as LongStorage
from torch.cuda import OutOfMemoryError as OutOfMemoryError
from torch.cuda import ShortStorage as ShortStorage
from torch.cuda import Stream as Stream
from torch.cuda import StreamContext as StreamContext
from torch.cuda import can_device_access_peer as can_device_access_peer
from torch.cuda import current_device as current_device
from torch.cuda import current_stream as current_stream
from torch.cuda import default_generators as default_generators
from torch.cuda import default_stream as default_stream
from torch.cuda import device as device
from torch.cuda import device_count as device_count
from torch.cuda import device_of as device_of
from torch.cuda import empty_cache as empty_cache
from torch.cuda import get_device_capability as get_device_capability
from torch.cuda import get_device_name as get_device_name
from torch.cuda import get_device_properties as get_device_properties
from torch.cuda import get_per_process_memory_fraction as get_per_process_memory_fraction
from torch.cuda import get_rng_state as get_rng_state
from torch.cuda import get_rng_state_all as get_rng_state_all
from torch.cuda import get_sync_debug_mode as get_sync_debug_mode
from torch.cuda import init as init
from torch.cuda import initial_seed as initial_seed
from torch.cuda import ipc_collect as ipc_collect
from torch.cuda import is_available as is_available
from torch.cuda import is_bf16_supported as is_bf16_supported
from torch.cuda import is_current_stream_capturing as is_current_stream_capturing
from torch.cuda import is_initialized as is_initialized
from torch.cuda import is_tf32_supported as is_tf32_supported
from torch.cuda import manual_seed as manual_seed
from torch.cuda import manual_seed_all as manual_seed_all
from torch.cuda import max_memory_allocated as max_memory_allocated
from torch.cuda import max_memory_cached as max_memory_cached
from torch.cuda import max_memory_reserved as max_memory_reserved
from torch.cuda import mem_get_info as mem_get_info
from torch.cuda import memory_allocated as memory_allocated
from torch.cuda import memory_cached as memory_cached
from torch.cuda import memory_reserved as memory_reserved
from torch.cuda import memory_snapshot as memory_snapshot
from torch.cuda import memory_stats as memory_stats
from torch.cuda import memory_stats_as_nested_dict as memory_stats_as_nested_dict
from torch.cuda import memory_summary as memory_summary
from torch.cuda import nvtx as nvtx
from torch.cuda import reset_accumulated_memory_stats as reset_accumulated_memory_stats
from torch.cuda import reset_max_memory_allocated as reset_max_memory_allocated
from torch.cuda import reset_max_memory_cached as reset_max_memory_cached
from torch.cuda import reset_peak_memory_stats as reset_peak_memory_stats
from torch.cuda import seed as seed
from torch.cuda import seed_all as seed_all
from torch.cuda import set_device as set_device
from torch.cuda import set_per_process_memory_fraction as set_per_process_memory_fraction
from torch.cuda import set_rng_state as set_rng_state
from torch.cuda import set_rng_state_all as set_rng_state_all
from torch.cuda import set_stream as set_stream
from torch.cuda import set_sync_debug_mode as set_sync_debug_mode
from torch.cuda import stream as stream
from torch.cuda import synchronize as synchronize
from torch.cuda import utilization as utilization

_T = TypeVar("_T")
_F = TypeVar("_F", bound=Callable[..., Any])

__version__: str

device_type: str
"""The kind of device that is here: "npu", "cuda", "xpu", "mps" or "cpu"."""

visible_devices_env: str
"""The environment variable that hides devices; CUDA_VISIBLE_DEVICES where there is none."""

def torch_device(index: Union[int, str, torch.device, None] = None) -> torch.device:
    """Return the device with this index, or the current device for None.

    Accepts what CUDA code has at hand: an int, its text ("1"), "cuda:1", a torch.device. A CUDA
    device becomes the one of this machine with its index; any other, such as "cpu", stays. There
    is one CPU, so the index is dropped there.
    """

def is_accelerator(x: Any) -> bool:
    """Return whether a tensor, module, device or device string is on the accelerator.

    A module is where its first parameter or buffer is; any other object where its `device` says.
    Always False without an accelerator.
    """

def dist_backend(cpu: bool = False) -> str:
    """Return torch.distributed's backend: "hccl", "nccl", "xccl", or "gloo" on mps and cpu.

    With `cpu` the one that carries the CPU's tensors as well, such as "cpu:gloo,cuda:nccl".
    """

def device_ids(rank: _T) -> Optional[List[_T]]:
    """Return `[rank]`, or None on the CPU, as DistributedDataParallel and barrier want it."""

def device_id(rank: _T) -> Optional[_T]:
    """Return what was given, an index or a device, or None on the CPU."""

def device_map_value(index: int) -> Union[int, str]:
    """Return what stands for a device in Hugging Face's device_map: CUDA's index, else its name.

    On CUDA `index` itself. Several versions of accelerate and transformers take an integer for
    CUDA's, and none of them takes one for the CPU: so "npu:0" and "cpu" stand for the others.
    """

map_location: Optional[Dict[Any, str]]
"""torch.load's map_location that puts what was saved from CUDA on the device that is here.

On CUDA None, torch.load's default: each tensor returns to where it was saved from. Elsewhere
"cuda:1" becomes the device with index 1, and what was saved from the CPU stays there. torch.load
refuses it for a TorchScript archive and a file of safetensors, where a device must be named.
"""

def pin_memory(t: _T) -> _T:
    """Return `t.pin_memory()`, or `t` itself on the CPU, where torch raises."""

def record_stream(t: torch.Tensor, s: Any) -> None:
    """Call `t.record_stream(s)`; nothing on the CPU, where torch raises."""

def fork_rng(devices: Optional[Iterable[int]] = None, enabled: bool = True) -> ContextManager[None]:
    """Return torch.random.fork_rng for this kind of device; on the CPU for its generator alone."""

def profiler_activities() -> List[torch.profiler.ProfilerActivity]:
    """Return the CPU's activity and the device's, if torch.profiler can record it."""

def is_out_of_memory(exc: BaseException) -> bool:
    """Return whether an exception says, by class or by text, that memory ran out."""

def autocast(
    enabled: bool = True,
    dtype: Optional[torch.dtype] = torch.float16,
    cache_enabled: Optional[bool] = True,
) -> torch.autocast:
    """Return torch.autocast for this kind of device, with torch.cuda.amp.autocast's signature.

    Pass None for the dtype to go on with the current one, and None for the cache of casts to leave
    it on or off as it is: these are torch.autocast's own defaults.

    Context manager and decorator. Disabled on the CPU, as CUDA's is there.
    """

def is_autocast_enabled() -> bool:
    """Return whether `autocast` is in force: torch.is_autocast_enabled for this kind of device."""

def get_autocast_gpu_dtype() -> torch.dtype:
    """Return the dtype of `autocast`: torch.get_autocast_dtype for this kind of device."""

class GradScaler(torch.amp.GradScaler):
    """torch.cuda.amp.GradScaler for this kind of device; disabled on the CPU, as CUDA's is there.

    A call makes an object of torch's (torch_npu's) own class, which counts as this class.
    """

    def __init__(
        self,
        init_scale: float = ...,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None: ...

@overload
def custom_fwd(fwd: _F) -> _F: ...
@overload
def custom_fwd(
    fwd: None = None, *, cast_inputs: Optional[torch.dtype] = None
) -> Callable[[_F], _F]:
    """torch.cuda.amp.custom_fwd for this kind of device, bare or called."""

@overload
def custom_bwd(bwd: _F) -> _F: ...
@overload
def custom_bwd(bwd: None = None) -> Callable[[_F], _F]:
    """torch.cuda.amp.custom_bwd for this kind of device, bare or called."""
