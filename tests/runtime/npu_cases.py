"""The NPU's side, on a fake torch.npu that takes what the real wheels take.

Run by test_npu.py in a process of its own: once torch knows "npu", it can't be made to forget it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import torch

from porter_runtime import _names, _surface
from porter_runtime._backend import Backend
from tests.runtime.fake_torch_npu import STATE_BYTES, TOTAL_MEMORY, FakeNpu
from tests.runtime.torch_npu_sources import VERSIONS, read_table

if TYPE_CHECKING:
    Npu = tuple[Any, FakeNpu]

# Absent from every torch_npu or from old ones, and not made up.
ABSENT: dict[str, set[str]] = {
    "2.1.0": {"BFloat16Storage", "BFloat16Tensor"},
    "2.13.0": set(),
}
NOWHERE = {"ComplexDoubleStorage", "ComplexFloatStorage"}

# torch.npu's own parameters differ and the call is passed on: a rule must not pass these.
MISFITS = {
    "Event": "no `external`",
    "StreamContext": "calls its parameter stream_ctx",
    "memory_snapshot": "no `include_traces`",
}


@pytest.fixture(params=VERSIONS)
def npu(
    request: pytest.FixtureRequest,
    chosen: Callable[[str], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> Npu:
    fake = FakeNpu(request.param)
    fake.install(monkeypatch)
    return chosen("npu"), fake


def test_every_name_is_there_or_says_that_it_is_not(npu: Npu) -> None:
    accel, fake = npu
    version = fake.package.__version__
    absent = NOWHERE | ABSENT.get(version, set())
    if version != "2.13.0":
        absent = absent | {"get_per_process_memory_fraction"}
    for name in sorted(_names.MIRRORED | _names.OWN):
        if name in absent:
            with pytest.raises(AttributeError, match=f"torch.npu has no '{name}'"):
                getattr(accel, name)
        else:
            getattr(accel, name)


@pytest.mark.parametrize("version", VERSIONS)
def test_passed_on_names_take_torch_cudas_arguments(version: str) -> None:
    table = read_table()[version]
    passed_on = _names.MIRRORED - set(_surface._ADAPTED) - set(MISFITS)
    checked = 0
    for name in sorted(passed_on & set(table)):
        signature = table[name].signature
        if not signature or not callable(getattr(torch.cuda, name, None)):
            continue
        scope: dict[str, Any] = {"torch": torch}
        exec(f"def theirs{signature}: pass", scope)
        theirs = list(inspect.signature(scope["theirs"]).parameters)
        ours = [
            parameter.name
            for parameter in inspect.signature(getattr(torch.cuda, name)).parameters.values()
            if parameter.kind is not parameter.VAR_KEYWORD
        ]
        assert theirs[: len(ours)] == ours, name
        checked += 1
    assert checked > 35


def test_plain_calls_are_torch_npus_own(npu: Npu) -> None:
    accel, fake = npu
    for name in ("synchronize", "empty_cache", "set_device", "current_stream", "manual_seed_all"):
        assert getattr(accel, name) is getattr(fake.module, name)


def test_no_device_is_started_by_asking_what_it_is(npu: Npu) -> None:
    accel, fake = npu
    assert accel.is_available() is True
    assert accel.device_count() == 2
    assert (accel.device_type, accel.dist_backend()) == ("npu", "hccl")
    assert accel.dist_backend(cpu=True) == "cpu:gloo,npu:hccl"
    assert accel.map_location["cuda:1"] == accel.map_location[torch.device("cuda:1")] == "npu:1"
    assert "npu:1" not in accel.map_location
    assert accel.visible_devices_env == "ASCEND_RT_VISIBLE_DEVICES"
    assert accel.torch_device(1) == torch.device("npu:1")
    assert not fake.initialized
    assert {name for name, _ in fake.calls} <= {"device_count", "is_available"}


def test_arguments_that_torch_npu_names_otherwise(npu: Npu) -> None:
    accel, fake = npu
    assert accel.get_device_name(device=1) == "fake NPU 1"
    assert accel.get_device_properties(device=0).total_memory == TOTAL_MEMORY
    accel.can_device_access_peer(device=0, peer_device=1)
    assert fake.called("can_device_access_peer") == [{"device_id": 0, "peer_device_id": 1}]
    assert accel.is_bf16_supported(including_emulation=True) is True
    assert accel.is_tf32_supported() is False


def test_what_old_wheels_lack(npu: Npu) -> None:
    accel, fake = npu
    if fake.package.__version__ == "2.1.0":
        assert accel.mem_get_info() == (TOTAL_MEMORY - (1 << 30), TOTAL_MEMORY)
        assert accel.StreamContext is fake.module.stream
    accel.ipc_collect()
    assert not accel.is_current_stream_capturing()


def test_rng_states_round_trip(npu: Npu) -> None:
    accel, fake = npu
    saved = accel.get_rng_state_all()
    fake.states = [torch.full((STATE_BYTES,), 9, dtype=torch.uint8) for _ in fake.states]
    accel.set_rng_state_all(saved)
    assert [state[0].item() for state in fake.states] == [0, 1]
    accel.set_rng_state(saved[0], 1)
    assert [state[0].item() for state in fake.states] == [0, 0]


def test_states_of_fewer_devices_are_the_first_ones(npu: Npu) -> None:
    accel, fake = npu
    accel.set_rng_state_all([torch.full((STATE_BYTES,), 9, dtype=torch.uint8)])
    assert [state[0].item() for state in fake.states] == [9, 1]


@pytest.mark.parametrize("count", [0, 3])
def test_a_foreign_rng_list_warns_and_changes_nothing(count: int, npu: Npu) -> None:
    accel, fake = npu
    with pytest.warns(UserWarning, match="saved on another kind or number of devices"):
        accel.set_rng_state_all([torch.zeros(STATE_BYTES, dtype=torch.uint8)] * count)
    assert [state[0].item() for state in fake.states] == [0, 1]


def test_a_foreign_rng_state_warns_and_changes_nothing(npu: Npu) -> None:
    accel, fake = npu
    with pytest.warns(UserWarning, match="saved on another kind"):
        accel.set_rng_state(torch.zeros(816, dtype=torch.uint8))
    assert not fake.called("set_rng_state")


def test_default_generators_are_never_a_stale_copy(npu: Npu) -> None:
    accel, fake = npu
    assert accel.default_generators == ()
    fake.module.__dict__["default_generators"] = ("generator",)
    assert accel.default_generators == ("generator",)


def test_scaler_takes_torch_cudas_positions(npu: Npu) -> None:
    accel, fake = npu
    scaler = accel.GradScaler(8.0, 2.0, 0.5, 100, False)
    assert isinstance(scaler, fake.module.amp.GradScaler)
    assert isinstance(scaler, accel.GradScaler)
    assert {accel.GradScaler: 1}[fake.module.amp.GradScaler] == 1
    assert fake.called("amp.GradScaler") == [
        {
            "init_scale": 8.0,
            "growth_factor": 2.0,
            "backoff_factor": 0.5,
            "growth_interval": 100,
            "dynamic": True,
            "enabled": False,
        }
    ]


def test_autocast_is_the_npus(npu: Npu) -> None:
    accel, _ = npu
    context = accel.autocast(True, torch.bfloat16)
    assert isinstance(context, torch.autocast)
    assert (context.device, context.fast_dtype, context._enabled) == ("npu", torch.bfloat16, True)
    assert accel.autocast(enabled=False)._enabled is False
    assert accel.autocast().fast_dtype is torch.float16
    assert accel.autocast(dtype=None).fast_dtype is torch.float16


def test_old_torch_asks_the_npus_module_for_its_autocast(
    npu: Npu, monkeypatch: pytest.MonkeyPatch
) -> None:
    accel, fake = npu
    assert accel.is_autocast_enabled() is False
    assert accel.get_autocast_gpu_dtype() is torch.float16
    monkeypatch.delattr(torch, "get_autocast_dtype", raising=False)
    backend = Backend("npu", fake.module)
    table = read_table()[fake.package.__version__]
    for name, theirs in (
        ("is_autocast_enabled", "is_autocast_enabled"),
        ("get_autocast_gpu_dtype", "get_autocast_dtype"),
    ):
        assert _surface._OWN[name](backend) is getattr(fake.module, theirs)
        assert table[theirs].signature == "()"


def test_marks_nest_where_the_wheel_has_no_stack(npu: Npu) -> None:
    accel, fake = npu
    with accel.nvtx.range("outer {}", 1):
        assert accel.nvtx.range_push(2) in (0, 1)
        accel.nvtx.range_pop()
    accel.nvtx.range_pop()
    if hasattr(fake.module, "mstx"):
        started = [call["message"] for call in fake.called("mstx.range_start")]
        ended = [call["range_id"] for call in fake.called("mstx.range_end")]
        assert started == ["outer 1", "2"]
        assert ended == [2, 1]


@pytest.mark.parametrize(
    ("device", "expected"),
    [("cuda:1", "npu:1"), ("1", "npu:1"), (torch.device("cuda"), "npu"), ("cpu", "cpu")],
)
def test_torch_device_translates_cuda(device: Any, expected: str, npu: Npu) -> None:
    assert str(npu[0].torch_device(device)) == expected


def test_is_accelerator(npu: Npu) -> None:
    accel, _ = npu
    on_npu = type("OnNpu", (), {"is_cpu": False, "is_meta": False})()
    assert accel.is_accelerator(on_npu) is True
    for other in (torch.ones(1), torch.ones(1, device="meta"), torch.nn.Linear(1, 1), "cpu", 0):
        assert accel.is_accelerator(other) is False
    assert accel.is_accelerator("cuda:0") is accel.is_accelerator(torch.device("npu", 1)) is True
    for device in ("cuda:0", "npu", torch.device("npu", 1)):
        assert accel.is_accelerator(SimpleNamespace(device=device)) is True
    for odd in ("cpu", torch.device("meta"), 0, None):
        assert accel.is_accelerator(SimpleNamespace(device=odd)) is False
    packed = torch.nn.utils.rnn.pack_sequence([torch.ones(2)])
    assert accel.is_accelerator(packed) is False


def test_fork_rng_names_the_npu(npu: Npu, monkeypatch: pytest.MonkeyPatch) -> None:
    accel, fake = npu
    with accel.fork_rng(devices=[1]):
        fake.module.set_rng_state(torch.full((STATE_BYTES,), 9, dtype=torch.uint8), 1)
    assert [state[0].item() for state in fake.states] == [0, 1]


def test_profiler_says_once_what_it_can_not_record(
    npu: Npu, monkeypatch: pytest.MonkeyPatch, warned: list[str]
) -> None:
    accel, _ = npu
    kinds = SimpleNamespace(CPU="cpu")
    monkeypatch.setattr(torch.profiler, "ProfilerActivity", kinds)
    assert accel.profiler_activities() == accel.profiler_activities() == ["cpu"]
    assert len(warned) == 1
    assert "records the CPU alone" in warned[0]
    kinds.NPU = "npu"
    assert accel.profiler_activities() == ["cpu", "npu"]


def test_old_torch_pins_for_the_npu_by_name(npu: Npu, monkeypatch: pytest.MonkeyPatch) -> None:
    _, fake = npu
    pinned: list[tuple[str, ...]] = []

    def pin_memory(tensor: torch.Tensor, *device: str) -> torch.Tensor:
        pinned.append(device)
        return tensor

    monkeypatch.setattr(torch.Tensor, "pin_memory", pin_memory)
    backend = Backend("npu", fake.module)
    for release, expected in (("2.6.0", ("npu",)), ("2.13.0", ())):
        monkeypatch.setattr(torch, "__version__", release)
        _surface._pin_memory(backend)(torch.ones(1))
        assert pinned.pop() == expected


def test_npu_comes_before_cuda(
    chosen: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = FakeNpu("2.13.0")
    fake.install(monkeypatch)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert chosen("auto").device_type == "npu"
    assert not fake.initialized


def test_npu_without_a_card_is_passed_over(
    chosen: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    FakeNpu("2.13.0", devices=0).install(monkeypatch)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert chosen("auto").device_type == "cpu"


def test_npu_works_where_transfer_to_npu_has_replaced_torch_cuda(
    chosen: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = FakeNpu("2.7.1")
    fake.install(monkeypatch)
    raised_by_torch = torch.cuda.OutOfMemoryError
    monkeypatch.setattr(torch, "cuda", fake.module)
    accel = chosen("auto")
    assert accel.device_type == "npu"
    assert accel.synchronize is fake.module.synchronize
    assert accel.OutOfMemoryError is raised_by_torch
