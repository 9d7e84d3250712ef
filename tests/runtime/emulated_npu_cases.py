"""What the shim's names do on an emulated NPU. Run by test_on_emulated_npu.py."""

from __future__ import annotations

import copy
import pickle
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import porter_runtime

FLOAT16, BFLOAT16, FLOAT32 = torch.float16, torch.bfloat16, torch.float32


@pytest.fixture
def accel() -> Iterator[Any]:
    """The shim, with nothing looked up yet; the device is the emulated NPU."""
    porter_runtime._reset()  # type: ignore[attr-defined]
    yield porter_runtime
    porter_runtime._reset()  # type: ignore[attr-defined]


@pytest.fixture
def matrix(accel: Any) -> torch.Tensor:
    return torch.ones(4, 4, device=accel.device_type)


def test_the_npu_is_chosen_and_started_by_its_first_use_alone(accel: Any) -> None:
    """Stands first: later tests start the device."""
    npu = torch.get_device_module("npu")
    assert (accel.device_type, accel.is_available(), accel.device_count()) == ("npu", True, 2)
    assert accel.dist_backend() == "hccl"
    assert accel.torch_device(1) == torch.device("npu:1")
    assert accel.map_location["cuda:1"] == "npu:1"
    for name in dir(accel):
        getattr(accel, name, None)
    assert not accel.is_initialized()
    assert not npu.is_initialized()
    torch.ones(1, device=accel.device_type)
    assert accel.is_initialized()


def test_devices_are_told_apart(accel: Any) -> None:
    with accel.device(1):
        there = torch.ones(2, device=accel.device_type)
        assert accel.current_device() == 1
    assert accel.current_device() == 0
    assert there.device == torch.device("npu:1")
    with accel.device_of(there):
        assert accel.current_device() == 1
    assert accel.is_accelerator(there)
    assert accel.is_accelerator(torch.nn.Linear(1, 1).to(accel.torch_device("cuda:1")))
    assert not accel.is_accelerator(there.cpu())
    assert "emulated" in accel.get_device_name(device=0)
    assert accel.get_device_capability() is None


def test_autocast_casts(accel: Any, matrix: torch.Tensor) -> None:
    with accel.autocast():
        assert (matrix @ matrix).dtype is FLOAT16
        with accel.autocast(dtype=BFLOAT16):
            assert (matrix @ matrix).dtype is BFLOAT16
            with accel.autocast(dtype=None):
                assert (matrix @ matrix).dtype is BFLOAT16
            with accel.autocast(False):
                assert (matrix @ matrix).dtype is FLOAT32
        with accel.autocast():
            assert (matrix @ matrix).dtype is FLOAT16
    assert (matrix @ matrix).dtype is FLOAT32

    @accel.autocast(dtype=BFLOAT16)  # type: ignore[untyped-decorator]
    def multiply() -> torch.Tensor:
        return matrix @ matrix

    assert multiply().dtype is BFLOAT16


def test_autocast_tells_its_state(accel: Any) -> None:
    assert accel.is_autocast_enabled() is False
    with accel.autocast(dtype=BFLOAT16):
        assert accel.is_autocast_enabled() is True
        assert accel.get_autocast_gpu_dtype() is BFLOAT16
        assert torch.is_autocast_enabled() is False  # CUDA's, which the original asked
        with accel.autocast(enabled=False):
            assert accel.is_autocast_enabled() is False
    assert accel.get_autocast_gpu_dtype() is FLOAT16


@pytest.mark.parametrize(
    ("enter", "cached"),
    [
        (lambda accel: accel.autocast(), True),
        (lambda accel: accel.autocast(dtype=FLOAT16), True),
        (lambda accel: accel.autocast(dtype=FLOAT16, cache_enabled=None), False),
        (lambda accel: accel.autocast(dtype=None, cache_enabled=None), False),
    ],
)
def test_an_outer_regions_cache_setting(
    enter: Callable[[Any], Any], cached: bool, accel: Any, matrix: torch.Tensor
) -> None:
    """A cast that is kept shows in the numbers: the weight changes between its two uses."""
    weight = torch.ones(4, 4, device=accel.device_type, requires_grad=True)
    with accel.autocast(dtype=FLOAT16, cache_enabled=False), enter(accel):
        assert (matrix @ weight)[0, 0].item() == 4
        with torch.no_grad():
            weight.mul_(2)
        assert (matrix @ weight)[0, 0].item() == (4 if cached else 8)


def test_scaler_scales_skips_and_adapts(accel: Any) -> None:
    layer = torch.nn.Linear(2, 1, bias=False).to(accel.device_type)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
    scaler = accel.GradScaler(8.0, growth_interval=1)
    start = layer.weight.detach().clone()

    def step(inputs: float) -> None:
        optimizer.zero_grad()
        loss = layer(torch.full((1, 2), inputs, device=accel.device_type)).sum()
        scaler.scale(loss).backward()
        assert layer.weight.grad is not None
        assert layer.weight.grad[0, 0].item() == 8.0 * inputs
        scaler.step(optimizer)
        scaler.update()

    step(float("inf"))
    assert torch.equal(layer.weight, start)
    assert scaler.get_scale() == 4.0
    scaler.load_state_dict({**scaler.state_dict(), "scale": 8.0})
    step(3.0)
    assert torch.allclose(layer.weight, start - 0.5 * 3.0)
    assert scaler.get_scale() == 16.0


def test_scaler_is_one_of_torch_npus(accel: Any) -> None:
    scaler = accel.GradScaler(8.0, 2.0, 0.5, 100, False)
    assert not scaler.is_enabled()  # the fifth is `enabled`, where torch_npu's is `dynamic`
    theirs = torch.get_device_module("npu").amp.GradScaler
    enabled = accel.GradScaler(8.0)
    assert enabled.is_enabled()
    for made in (scaler, enabled, copy.deepcopy(enabled), pickle.loads(pickle.dumps(enabled))):
        assert isinstance(made, theirs)
        assert isinstance(made, accel.GradScaler)
    assert {accel.GradScaler: 1}[theirs] == 1


def test_scaler_takes_a_state_that_cuda_saved(accel: Any) -> None:
    scaler = accel.GradScaler(8.0)
    state = scaler.state_dict()
    assert state.pop("dynamic") is True, "torch_npu's own figure, which torch doesn't save"
    scaler.load_state_dict({**state, "scale": 2.0, "_growth_tracker": 4})
    assert (scaler.get_scale(), scaler._get_growth_tracker()) == (2.0, 4)
    assert scaler.state_dict()["dynamic"] is True
    with pytest.raises(RuntimeError, match="empty"):
        scaler.load_state_dict({})


def test_custom_functions_follow_autocast(accel: Any, matrix: torch.Tensor) -> None:
    seen: list[torch.dtype] = []

    class Doubled(torch.autograd.Function):
        @staticmethod
        @accel.custom_fwd(cast_inputs=FLOAT32)  # type: ignore[untyped-decorator]
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            seen.extend([x.dtype, (x @ x).dtype])
            return x * 2

        @staticmethod
        @accel.custom_bwd  # type: ignore[untyped-decorator]
        def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
            seen.append((grad @ grad).dtype)
            return grad * 2

    half = matrix.half().requires_grad_()
    function: Any = Doubled
    with accel.autocast():
        result = function.apply(half)
    result.sum().backward()
    assert seen == [FLOAT32, FLOAT32, FLOAT32]
    assert half.grad is not None
    assert half.grad[0, 0].item() == 2


def draw(accel: Any, index: int = 0) -> list[float]:
    numbers: list[float] = torch.rand(3, device=accel.torch_device(index)).tolist()
    return numbers


def test_rng_states_round_trip(accel: Any) -> None:
    accel.manual_seed_all(7)
    saved, one = accel.get_rng_state_all(), accel.get_rng_state(1)
    first = draw(accel), draw(accel, 1)
    assert (draw(accel), draw(accel, 1)) != first
    accel.set_rng_state_all(saved)
    assert (draw(accel), draw(accel, 1)) == first
    accel.set_rng_state(one, 1)
    assert draw(accel, 1) == first[1]
    accel.manual_seed(7)
    assert draw(accel) == first[0]


def test_foreign_rng_states_warn_and_change_nothing(accel: Any) -> None:
    accel.manual_seed_all(7)
    expected = draw(accel)
    accel.manual_seed_all(7)
    of_cuda = torch.zeros(16, dtype=torch.uint8)
    with pytest.warns(UserWarning, match="saved on another kind or number of devices"):
        accel.set_rng_state_all([of_cuda, of_cuda])
    accel.set_rng_state(of_cuda)
    accel.set_rng_state_all([*accel.get_rng_state_all(), accel.get_rng_state()])
    assert draw(accel) == expected


def test_fork_rng_restores(accel: Any) -> None:
    accel.manual_seed_all(7)
    torch.manual_seed(7)
    expected = draw(accel), draw(accel, 1), torch.rand(2).tolist()
    accel.manual_seed_all(7)
    torch.manual_seed(7)
    with accel.fork_rng(devices=[0, 1]):
        draw(accel), draw(accel, 1), torch.rand(2)
    assert (draw(accel), draw(accel, 1), torch.rand(2).tolist()) == expected


def test_events_measure_a_sleep(accel: Any) -> None:
    start, end = accel.Event(enable_timing=True), accel.Event(enable_timing=True)
    start.record()
    time.sleep(0.05)
    end.record()
    end.synchronize()
    assert end.query()
    assert 50 <= start.elapsed_time(end) < 5000


def test_streams_order_work(accel: Any, matrix: torch.Tensor) -> None:
    side = accel.Stream()
    assert accel.current_stream() == accel.default_stream() != side
    with accel.stream(side):
        assert accel.current_stream() == side
        product = matrix @ matrix
        done = side.record_event()
    accel.current_stream().wait_event(done)
    accel.current_stream().wait_stream(side)
    accel.record_stream(product, accel.current_stream())
    accel.synchronize()
    assert product[0].tolist() == [4.0] * 4
    assert isinstance(side, accel.Stream)
    assert isinstance(done, accel.Event)


def test_running_out_of_memory_is_caught(accel: Any) -> None:
    total = accel.get_device_properties(0).total_memory
    accel.set_per_process_memory_fraction(2**20 / total)
    try:
        with pytest.raises(accel.OutOfMemoryError) as raised:
            torch.empty(2**22, device=accel.device_type)
    finally:
        accel.set_per_process_memory_fraction(1.0)
    assert accel.is_out_of_memory(raised.value)
    assert "NPU out of memory" in str(raised.value)


def test_memory_is_counted(accel: Any) -> None:
    before = accel.memory_allocated()
    block = torch.empty(2**18, device=accel.device_type)
    assert accel.memory_allocated() - before == block.numel() * 4
    accel.reset_peak_memory_stats()
    peak = accel.max_memory_allocated()
    del block
    assert accel.memory_allocated() == before
    assert accel.max_memory_allocated() == peak >= before + 2**20
    free, total = accel.mem_get_info()
    assert 0 < free <= total


def test_pinned_memory_is_pinned(accel: Any) -> None:
    pinned = accel.pin_memory(torch.ones(2))
    assert pinned.is_pinned()
    assert pinned.to(accel.device_type, non_blocking=True).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("weights_only", [True, False])
def test_what_was_saved_from_cuda_loads_on_the_same_index(
    weights_only: bool, accel: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.pt"
    places = ["cuda:1", "cpu", "cuda:0"]
    with monkeypatch.context() as patch:
        patch.setattr(torch.serialization, "location_tag", lambda storage: places.pop(0))
        torch.save([torch.ones(2), torch.ones(2), torch.ones(2)], path)
    loaded = torch.load(path, map_location=accel.map_location, weights_only=weights_only)
    assert [str(tensor.device) for tensor in loaded] == ["npu:1", "cpu", "npu:0"]
    assert all(tensor.tolist() == [1.0, 1.0] for tensor in loaded)


def test_ones_own_checkpoint_returns_to_where_it_was(accel: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    torch.save(torch.ones(2, device=accel.torch_device(1)), path)
    assert torch.load(path, map_location=accel.map_location).device == torch.device("npu:1")
    with pytest.raises(RuntimeError, match=r"device_count\(\) is 2"):
        torch.load(path, map_location={"npu:1": accel.map_location["cuda:2"]})


def test_a_step_compiles_into_one_graph(accel: Any, matrix: torch.Tensor) -> None:
    def step(x: torch.Tensor) -> torch.Tensor:
        with accel.autocast(dtype=BFLOAT16):
            y = x.to(accel.torch_device(0)) @ torch.ones(4, 4, device=accel.device_type)
            if accel.is_autocast_enabled() and accel.is_accelerator(y) and accel.is_available():
                y = y + 2
            kind = accel.get_autocast_gpu_dtype()
        return y.to(kind) if accel.dist_backend() == "hccl" else y * 0

    torch._dynamo.reset()
    compiled = torch.compile(step, fullgraph=True, backend="eager")
    result = compiled(matrix)
    assert (result.dtype, result.device.type) == (BFLOAT16, "npu")
    assert torch.equal(result, step(matrix))
    assert result[0, 0].item() == 6


def test_torchscript_takes_the_device_type(accel: Any, tmp_path: Path) -> None:
    source = (
        "import torch\n"
        "import porter_runtime as accel\n"
        "def move(x: torch.Tensor):\n"
        "    return x.to(accel.device_type) + torch.ones(2, device=accel.device_type)\n"
    )
    path = tmp_path / "scripted.py"
    path.write_text(source)
    scope: dict[str, Any] = {"__name__": "scripted"}
    exec(compile(source, str(path), "exec"), scope)
    script: Any = torch.jit.script
    moved = script(scope["move"])(torch.ones(2))
    assert (moved.device.type, moved.tolist()) == ("npu", [2.0, 2.0])
