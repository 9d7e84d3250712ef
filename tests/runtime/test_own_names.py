"""The names that torch.cuda lacks, on the CPU."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

OLD = torch.__version__.startswith("2.1.")


class Placed(torch.Tensor):
    """A tensor subclass without memory, which says that it is somewhere."""

    @staticmethod
    def __new__(cls, place: str) -> Placed:
        make: Any = torch.Tensor._make_wrapper_subclass
        made: Placed = make(cls, (2,), device=torch.device(place))
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, *args: Any) -> Any:
        raise NotImplementedError(func)


@pytest.mark.parametrize(
    "index", [None, 0, 3, "1", "cuda", "cuda:2", "cpu", torch.device("cuda", 1), torch.tensor(2)]
)
def test_torch_device_drops_the_index(index: Any, accel: Any) -> None:
    assert accel.torch_device(index) == torch.device("cpu")


def test_torch_device_keeps_other_devices(accel: Any) -> None:
    assert accel.torch_device("meta") == torch.device("meta")
    assert accel.torch_device(torch.device("mps", 0)) == torch.device("mps", 0)


def test_torch_device_refuses_nonsense(accel: Any) -> None:
    with pytest.raises(TypeError):
        accel.torch_device(1.5)
    with pytest.raises(RuntimeError):
        accel.torch_device("no such device")


def test_device_type_is_text(accel: Any) -> None:
    assert accel.device_type == "cpu"
    assert type(accel.device_type) is str
    assert accel.visible_devices_env == "CUDA_VISIBLE_DEVICES"


@pytest.mark.parametrize(
    "thing",
    [
        torch.ones(1),
        torch.nn.Linear(1, 1),
        torch.device("cuda"),
        "cuda:0",
        SimpleNamespace(device="cuda"),
        "cpu",
        0,
        None,
    ],
)
def test_nothing_is_on_an_accelerator(thing: Any, accel: Any) -> None:
    assert accel.is_accelerator(thing) is False


def test_distributed_answers(accel: Any) -> None:
    assert accel.dist_backend() == accel.dist_backend(cpu=True) == "gloo"
    assert accel.device_ids(1) is None
    assert accel.device_id(1) is None


def test_a_device_map_names_the_cpu(accel: Any) -> None:
    assert accel.device_map_value(1) == "cpu"


@pytest.mark.parametrize("place", ["cuda:1", "cuda", "npu:0"])
@pytest.mark.parametrize("legacy", [False, True], ids=["zip", "legacy"])
def test_what_was_saved_from_an_accelerator_loads(
    place: str, legacy: bool, accel: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.pt"
    with monkeypatch.context() as patch:
        patch.setattr(torch.serialization, "location_tag", lambda storage: place)
        saved = {"weight": torch.arange(3.0)}
        torch.save(saved, path, _use_new_zipfile_serialization=not legacy)
    with pytest.raises((RuntimeError, AssertionError)):
        torch.load(path)
    loaded = torch.load(path, map_location=accel.map_location)["weight"]
    assert loaded.device == torch.device("cpu")
    assert loaded.tolist() == [0.0, 1.0, 2.0]


def test_what_was_saved_from_the_cpu_loads_as_before(accel: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    shared = torch.arange(3.0)
    torch.save({"a": shared, "b": shared[1:], "where": "cuda:0"}, path)
    for options in ({}, {"mmap": True}):
        loaded = torch.load(str(path), map_location=accel.map_location, **options)
        assert loaded["a"].tolist() == [0.0, 1.0, 2.0]
        assert loaded["a"].untyped_storage().data_ptr() == loaded["b"].untyped_storage().data_ptr()
        assert loaded["where"] == "cuda:0"


@pytest.mark.skipif(OLD, reason="torch 2.1 asks for no place of a tensor subclass")
def test_a_tensor_subclass_from_cuda_loads(accel: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    torch.save(Placed("cuda:1"), path)
    loaded = torch.load(path, map_location=accel.map_location, weights_only=False)
    assert type(loaded) is Placed
    assert loaded.device == torch.device("cpu")


def test_pin_memory_returns_the_tensor(accel: Any) -> None:
    tensor = torch.ones(2)
    assert accel.pin_memory(tensor) is tensor


def test_fork_rng_restores(accel: Any) -> None:
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    with accel.fork_rng(devices=[0, 1]):
        torch.rand(100)
    assert torch.equal(torch.rand(2), expected)
    torch.manual_seed(3)
    with accel.fork_rng(enabled=False):
        torch.rand(100)
    assert not torch.equal(torch.rand(2), expected)


def test_profiler_records(accel: Any) -> None:
    with torch.profiler.profile(activities=accel.profiler_activities()) as profile:
        torch.ones(4) @ torch.ones(4)
    assert any("aten::" in event.key for event in profile.key_averages())


@pytest.mark.parametrize(
    ("exception", "expected"),
    [
        (torch.cuda.OutOfMemoryError("no text"), True),
        (RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"), True),
        (RuntimeError("NPU out of memory."), True),
        (RuntimeError("shapes differ"), False),
        (ValueError("x"), False),
    ],
)
def test_is_out_of_memory(exception: BaseException, expected: bool, accel: Any) -> None:
    assert accel.is_out_of_memory(exception) is expected
