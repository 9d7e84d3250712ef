"""What torch_npu has of its own."""

from __future__ import annotations

import pytest
import torch
import torch_npu  # type: ignore[import-not-found]
from torch import nn

npu = torch.get_device_module("npu")


def test_everything_says_that_it_is_emulated() -> None:
    assert "emulated" in npu.get_device_name()
    assert "emulated" in npu.get_device_properties(0).name
    assert "emulated" in torch_npu.__version__
    assert "emulated" in npu.memory_summary()
    with pytest.raises(NotImplementedError, match="emulated"):
        torch_npu.npu.utils.get_soc_version()


def test_the_accelerator_is_npu() -> None:
    assert npu.is_available()
    assert torch.accelerator.current_accelerator() == torch.device("npu")
    assert torch.accelerator.device_count() == npu.device_count() == 1
    assert not torch.cuda.is_available()


def test_amp_names_of_the_vendor() -> None:
    x = torch.ones(2, 2, device="npu")
    with npu.amp.autocast():
        assert (x @ x).dtype == torch.float16
    weight = nn.Parameter(torch.ones(2, device="npu"))
    optimizer = torch.optim.SGD([weight], lr=0.5)
    scaler = npu.amp.GradScaler(4.0, dynamic=False)
    scaler.scale(weight.sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert weight.tolist() == [0.5, 0.5]
    other = npu.amp.GradScaler()
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict()["dynamic"] is False
    assert other.get_scale() == 4.0
    assert npu.get_amp_supported_dtype() == [torch.float16, torch.bfloat16, torch.float32]


def test_capability_is_none_unless_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TORCH_NPU_DEVICE_CAPABILITY", raising=False)
    with pytest.warns(UserWarning, match="capability"):
        assert npu.get_device_capability() is None
    monkeypatch.setenv("TORCH_NPU_DEVICE_CAPABILITY", "8.0")
    assert npu.get_device_capability() == (8, 0)


def test_vendor_operators_refuse() -> None:
    from torch_npu import npu_fusion_attention

    with pytest.raises(NotImplementedError, match="npu_fusion_attention"):
        npu_fusion_attention(1, 2)
    with pytest.raises(NotImplementedError, match="NPUGraph"):
        npu.NPUGraph()
    with pytest.raises(AttributeError):
        torch_npu.npu_made_up  # noqa: B018


def test_cuda_still_raises() -> None:
    with pytest.raises((RuntimeError, AssertionError), match="CUDA"):
        torch.ones(3).cuda()
    with pytest.raises((RuntimeError, AssertionError), match="CUDA"):
        torch.ones(3).to("npu").cuda()
    with pytest.raises((RuntimeError, AssertionError), match="CUDA"):
        nn.Linear(3, 3).cuda()


def test_autocast_takes_no_float64() -> None:
    x = torch.ones(2, 2, device="npu")
    with pytest.warns(UserWarning, match="autocast"), torch.autocast("npu", dtype=torch.float64):
        assert (x @ x).dtype == torch.float32
