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


def test_autocast_state_is_what_cudas_autocast_leaves(accel: Any) -> None:
    """As on a machine without CUDA: the dtype is set, though nothing is cast."""
    assert accel.get_autocast_gpu_dtype() is torch.float16
    with accel.autocast(enabled=False, dtype=torch.bfloat16):
        assert accel.get_autocast_gpu_dtype() is torch.bfloat16
        assert accel.is_autocast_enabled() is False
    assert accel.get_autocast_gpu_dtype() is torch.float16


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
    assert type(scaler) is type(copied) is torch.cuda.amp.GradScaler
    assert copied.state_dict() == scaler.state_dict()


def test_scalers_class_is_torchs_to_every_question(accel: Any) -> None:
    ours, theirs = accel.GradScaler, torch.cuda.amp.GradScaler
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns that it is deprecated
        scaler = theirs(enabled=False)
    assert isinstance(scaler, ours)
    assert issubclass(theirs, ours)
    assert {ours: "save"}[type(scaler)] == {theirs: "save"}[ours] == "save"
    assert ours in [theirs]
    assert theirs in {ours}
    for other in (object(), torch.nn.Linear(1, 1)):
        assert not isinstance(other, ours)
        assert type(other) not in {ours}


def test_a_class_derived_from_the_scaler_is_itself(accel: Any, warned: list[str]) -> None:
    class Mine(accel.GradScaler):  # type: ignore[misc]
        def __init__(self, name: str) -> None:
            super().__init__(8.0, enabled=True)
            self.name = name

    mine, other = Mine("mine"), accel.GradScaler(enabled=False)
    assert type(mine) is type(copy.deepcopy(mine)) is Mine
    assert (mine.name, mine.is_enabled(), len(warned)) == ("mine", False, 1)
    assert isinstance(mine, accel.GradScaler)
    assert not isinstance(other, Mine)
    assert Mine not in {accel.GradScaler, torch.cuda.amp.GradScaler}


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


def autocast_of_torch_cuda_amp(*args: Any, **kwargs: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.cuda.amp.autocast(*args, **kwargs)


BFLOAT16 = torch.bfloat16

# What CUDA code enters, and what it is ported to.
SPELLINGS: list[tuple[Callable[[], Any], Callable[[Any], Any]]] = [
    (autocast_of_torch_cuda_amp, lambda accel: accel.autocast()),
    (lambda: autocast_of_torch_cuda_amp(False), lambda accel: accel.autocast(enabled=False)),
    (
        lambda: autocast_of_torch_cuda_amp(dtype=BFLOAT16),
        lambda accel: accel.autocast(dtype=BFLOAT16),
    ),
    (
        lambda: autocast_of_torch_cuda_amp(True, BFLOAT16, False),
        lambda accel: accel.autocast(True, BFLOAT16, False),
    ),
    (
        lambda: torch.autocast("cuda"),
        lambda accel: accel.autocast(dtype=None, cache_enabled=None),
    ),
    (
        lambda: torch.autocast("cuda", enabled=False),
        lambda accel: accel.autocast(dtype=None, cache_enabled=None, enabled=False),
    ),
    (
        lambda: torch.autocast("cuda", BFLOAT16),
        lambda accel: accel.autocast(cache_enabled=None, dtype=BFLOAT16),
    ),
    (
        lambda: torch.autocast("cuda", cache_enabled=True),
        lambda accel: accel.autocast(dtype=None, cache_enabled=True),
    ),
]


@pytest.mark.parametrize("outer", [(torch.float16, True), (BFLOAT16, False)])
@pytest.mark.parametrize(("original", "ported"), SPELLINGS)
def test_on_cuda_both_spellings_enter_what_they_entered(
    original: Callable[[], Any],
    ported: Callable[[Any], Any],
    outer: tuple[torch.dtype, bool],
    cuda: Any,
) -> None:
    dtype, cached = outer
    with torch.autocast("cuda", dtype=dtype, cache_enabled=cached):
        theirs, ours = original(), ported(cuda)
    for state in ("device", "_enabled", "fast_dtype", "_cache_enabled"):
        assert getattr(ours, state) == getattr(theirs, state), state


def test_on_cuda_the_state_is_torchs(cuda: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with cuda.autocast(dtype=BFLOAT16):
            assert cuda.is_autocast_enabled() is torch.is_autocast_enabled() is True
            assert cuda.get_autocast_gpu_dtype() is BFLOAT16
            with cuda.autocast(enabled=False):
                assert cuda.is_autocast_enabled() is False


def test_on_cuda_the_scaler_is_torchs(cuda: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scaler = cuda.GradScaler(8.0, growth_interval=5)
    assert type(scaler) is torch.cuda.amp.GradScaler
    assert isinstance(scaler, cuda.GradScaler)
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


FRESH = {
    "scale": 1024.0,
    "growth_factor": 2.0,
    "backoff_factor": 0.5,
    "growth_interval": 7,
    "_growth_tracker": 0,
}


@pytest.mark.filterwarnings("ignore:no accelerator is available")
def test_a_scalers_state_passes_through_the_cpu(accel: Any) -> None:
    scaler = accel.GradScaler(2.0**10, growth_interval=7)
    assert scaler.state_dict() == FRESH
    scaler.load_state_dict({**FRESH, "scale": 8.0})
    scaler.load_state_dict({})  # from torch's own disabled scaler
    assert scaler.state_dict() == {**FRESH, "scale": 8.0}
    assert accel.GradScaler(enabled=False).state_dict() == {}


@pytest.mark.skipif(not hasattr(torch.amp, "GradScaler"), reason="from torch 2.3 on")
@pytest.mark.filterwarnings("ignore:no accelerator is available")
def test_what_the_cpus_scaler_saves_is_what_an_enabled_one_saves_and_loads(accel: Any) -> None:
    enabled = torch.amp.GradScaler("cpu", init_scale=2.0**10, growth_interval=7)
    assert enabled.state_dict() == FRESH
    scaler = accel.GradScaler()
    scaler.load_state_dict({**FRESH, "scale": 8.0, "_growth_tracker": 3})
    enabled.load_state_dict(scaler.state_dict())
    assert (enabled.get_scale(), enabled._get_growth_tracker()) == (8.0, 3)
