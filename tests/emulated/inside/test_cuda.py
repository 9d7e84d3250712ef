"""What torch.cuda has of its own, and what a build of torch without CUDA would refuse."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import pytest
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

cuda: Any = torch.cuda


def test_everything_says_that_it_is_emulated() -> None:
    assert "emulated" in cuda.get_device_name()
    assert "emulated" in cuda.get_device_properties(0).name
    assert "emulated" in str(torch.version.cuda)
    assert "emulated" in cuda.nccl.version()
    assert "emulated" in torch.__config__.show()
    with pytest.raises(NotImplementedError, match="emulated"):
        cuda.CUDAGraph()


def test_the_accelerator_is_cuda() -> None:
    assert cuda.is_available()
    assert torch.version.cuda is not None
    assert dist.is_nccl_available()
    assert torch.accelerator.current_accelerator() == torch.device("cuda")
    assert torch.accelerator.device_count() == cuda.device_count() == 1
    assert cuda.get_device_capability() == (8, 0)
    assert cuda.is_bf16_supported()


def test_cuda_methods_move() -> None:
    x = torch.arange(3.0)
    assert x.cuda().device == x.cuda(0).device == torch.device("cuda:0")
    assert x.cuda().is_cuda
    model = nn.Linear(3, 3)
    weight = model.weight
    assert model.cuda().weight is weight
    assert weight.is_cuda
    assert x.untyped_storage().cuda().device.type == "cuda"


def test_streams_and_events_are_classes_of_torch_cuda() -> None:
    assert isinstance(cuda.Stream | None, object)  # as in an annotation
    assert issubclass(cuda.Stream, torch.Stream)
    assert issubclass(cuda.Event, torch.Event)
    assert type(cuda.current_stream()) is cuda.Stream
    event = cuda.current_stream().record_event()
    assert isinstance(event, cuda.Event)
    assert cuda.default_stream().cuda_stream == 0
    with pytest.raises(NotImplementedError, match="interprocess"):
        cuda.Event(interprocess=True)
    with pytest.raises(NotImplementedError, match="external"):
        cuda.ExternalStream(1)


def test_the_old_amp_names() -> None:
    x = torch.ones(2, 2, device="cuda")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        with cuda.amp.autocast():
            assert (x @ x).dtype == torch.float16
            assert torch.get_autocast_gpu_dtype() == torch.float16
        scaler = cuda.amp.GradScaler(init_scale=4.0)
    weight = nn.Parameter(torch.ones(2, device="cuda"))
    optimizer = torch.optim.SGD([weight], lr=0.5)
    scaler.scale(weight.sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert weight.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("function", [F.softmax, F.log_softmax])
def test_softmax_of_half_in_single_precision(function: Any) -> None:
    half = torch.randn(4, 5, generator=torch.Generator().manual_seed(0)).half()
    weights = torch.arange(5.0)
    on_cuda = half.cuda().requires_grad_()
    result = function(on_cuda, 1, dtype=torch.float32)
    (result * weights.cuda()).sum().backward()
    single: Any = half.float().requires_grad_()
    expected: Any = function(single, 1)
    (expected * weights).sum().backward()
    assert result.dtype == torch.float32
    assert torch.equal(result.detach().cpu(), expected.detach())
    assert single.grad is not None
    assert on_cuda.grad is not None
    assert on_cuda.grad.dtype == torch.float16
    assert torch.equal(on_cuda.grad.cpu(), single.grad.half())


def test_storages_are_made_on_the_device() -> None:
    new: Any = torch.UntypedStorage
    storage = new(6, device="cuda")
    assert (storage.device.type, storage.nbytes()) == ("cuda", 6)
    assert new([1, 2], device="cuda").tolist() == [1, 2]
    assert new(3).device.type == "cpu"
    x = torch.arange(4.0, device="cuda")
    x.untyped_storage().resize_(0)
    assert x.untyped_storage().nbytes() == 0
    assert copy.deepcopy(nn.Linear(2, 2).cuda()).weight.is_cuda


def test_the_default_tensor_type() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        torch.set_default_tensor_type("torch.cuda.DoubleTensor")
        assert torch.ones(1).type() == "torch.cuda.DoubleTensor"
        torch.set_default_tensor_type(torch.FloatTensor)
        assert torch.ones(1).type() == "torch.FloatTensor"


def test_legacy_types_convert() -> None:
    x: Any = torch.ones(2).type(cuda.HalfTensor)
    assert x.type() == "torch.cuda.HalfTensor"
    made = cuda.FloatTensor(2, 3).fill_(1.0)
    assert made.sum().item() == 6


def test_the_runtimes_own_functions() -> None:
    cudart = cuda.cudart()
    cuda.check_error(cudart.cudaProfilerStart())
    cuda.check_error(cudart.cudaProfilerStop())
    assert cuda.nvtx.range_push("outer") == 0
    assert cuda.nvtx.range_push("inner") == 1
    assert [cuda.nvtx.range_pop() for _ in range(2)] == [1, 0]
    cuda.set_sync_debug_mode("warn")
    assert cuda.get_sync_debug_mode() == 1
    cuda.set_sync_debug_mode(0)
    cuda.ipc_collect()
    free, total = cuda.mem_get_info()
    assert 0 < free <= total
    assert "CUDA memory summary" in cuda.memory_summary()
