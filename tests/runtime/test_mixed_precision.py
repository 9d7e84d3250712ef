"""autocast, GradScaler, custom_fwd and custom_bwd: off on the CPU, CUDA's own on CUDA."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

MATRIX = torch.ones(4, 4)


def test_autocast_casts_nothing_and_says_so_once(accel: Any, warned: list[str]) -> None:
    for dtype in (torch.bfloat16, torch.float16):
        with accel.autocast(dtype=dtype):
            assert (MATRIX @ MATRIX).dtype is torch.float32
    with accel.autocast(True, torch.bfloat16, False):
        assert not torch.is_autocast_enabled()
    assert len(warned) == 1
    assert "autocast is disabled" in warned[0]


def test_autocast_switched_off_says_nothing(accel: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with accel.autocast(enabled=False), accel.autocast(False):
            assert (MATRIX @ MATRIX).dtype is torch.float32


def test_autocast_leaves_one_of_the_cpu_alone(accel: Any) -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16), accel.autocast(enabled=False):
        assert (MATRIX @ MATRIX).dtype is torch.bfloat16


def test_autocast_decorates(accel: Any) -> None:
    @accel.autocast(enabled=False)  # type: ignore[untyped-decorator]
    def multiply(x: torch.Tensor) -> torch.Tensor:
        return x @ x

    assert multiply.__name__ == "multiply"
    assert multiply(MATRIX).dtype is torch.float32


def test_scaler_is_off_and_says_so_once(accel: Any, warned: list[str]) -> None:
    scaler = accel.GradScaler(2.0**10)
    accel.GradScaler(enabled=True)
    assert len(warned) == 1
    assert "float16 would train without loss scaling" in warned[0]
    assert isinstance(scaler, accel.GradScaler)
    assert not scaler.is_enabled()
    layer = torch.nn.Linear(2, 1)
    before = layer.weight.detach().clone()
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    loss = layer(torch.ones(1, 2)).sum()
    assert scaler.scale(loss) is loss
    loss.backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert torch.allclose(layer.weight, before - 0.1)


def test_scaler_takes_states_of_every_device(accel: Any) -> None:
    scaler = accel.GradScaler(enabled=False)
    scaler.load_state_dict(scaler.state_dict())
    saved_on_cuda = {
        "scale": 65536.0,
        "growth_factor": 2.0,
        "backoff_factor": 0.5,
        "growth_interval": 2000,
        "_growth_tracker": 3,
    }
    scaler.load_state_dict(saved_on_cuda)
    assert scaler.get_scale() == 1.0


@pytest.mark.parametrize("again", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_scaler_copies_are_torchs_own(again: Callable[[Any], Any], accel: Any) -> None:
    scaler = accel.GradScaler(enabled=False)
    copied = again(scaler)
    assert type(copied).__module__.startswith("torch.")
    assert copied.state_dict() == scaler.state_dict()

    class Mine(accel.GradScaler):  # type: ignore[misc]
        pass

    assert isinstance(copy.deepcopy(Mine(enabled=False)), Mine)


def make_doubled(fwd: Callable[..., Any], bwd: Callable[..., Any]) -> Any:
    class Doubled(torch.autograd.Function):
        @staticmethod
        @fwd
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.seen = x.dtype
            return x * 2

        @staticmethod
        @bwd
        def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
            return grad * 2

    return Doubled


@pytest.mark.parametrize("called", [False, True])
def test_custom_functions_run(called: bool, accel: Any) -> None:
    fwd = accel.custom_fwd(cast_inputs=torch.float32) if called else accel.custom_fwd
    bwd = accel.custom_bwd() if called else accel.custom_bwd
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    y = make_doubled(fwd, bwd).apply(x)
    y.sum().backward()
    assert y.dtype is torch.float64
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.fixture
def cuda(chosen: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    for module in (torch.cuda.amp.common, torch.cuda.amp.grad_scaler):
        monkeypatch.setattr(module, "amp_definitely_not_available", lambda: False, raising=False)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda *args: True)
    return chosen("cuda")


def test_on_cuda_autocast_is_torchs(cuda: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # torch.cuda.amp's class warns that it is deprecated
        made = cuda.autocast(False, torch.bfloat16, False)
        default = cuda.autocast()
    assert type(made) is type(default) is torch.autocast
    assert (made.device, made._enabled, made.fast_dtype, made._cache_enabled) == (
        "cuda", False, torch.bfloat16, False,
    )  # fmt: skip
    assert (default._enabled, default.fast_dtype) == (True, torch.float16)


def test_on_cuda_the_scaler_is_torchs(cuda: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scaler = cuda.GradScaler(8.0, growth_interval=5)
    assert isinstance(scaler, torch.cuda.amp.GradScaler)
    assert scaler.is_enabled()
    assert scaler.state_dict() == {
        "scale": 8.0,
        "growth_factor": 2.0,
        "backoff_factor": 0.5,
        "growth_interval": 5,
        "_growth_tracker": 0,
    }
    assert type(pickle.loads(pickle.dumps(scaler))) is torch.cuda.amp.GradScaler


@pytest.mark.parametrize("called", [False, True])
def test_on_cuda_custom_functions_are_torchs(called: bool, cuda: Any) -> None:
    fwd = cuda.custom_fwd(cast_inputs=torch.float32) if called else cuda.custom_fwd
    bwd = cuda.custom_bwd() if called else cuda.custom_bwd
    x = torch.ones(2, requires_grad=True)
    y = make_doubled(fwd, bwd).apply(x)
    y.sum().backward()
    assert y.grad_fn._fwd_used_autocast is False
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 2.0]
