"""Which device is chosen, and that choosing starts none."""

from __future__ import annotations

import logging
import os
import sys
import types
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
import torch

if TYPE_CHECKING:
    Choose = Callable[[str], Any]


def no_npu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch_npu", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)


def broken_npu(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    monkeypatch.delitem(sys.modules, "torch_npu", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())

    def fail(name: str) -> None:
        raise error

    monkeypatch.setattr("importlib.import_module", fail)


def cuda_of(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)


def test_cpu_is_chosen_in_silence_where_nothing_else_is(
    chosen: Choose, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_npu(monkeypatch)
    cuda_of(monkeypatch, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert chosen("auto").device_type == "cpu"


@pytest.mark.parametrize("wanted", ["auto", "", " CUDA "])
def test_cuda_is_chosen_and_is_torch_cuda_itself(
    wanted: str, chosen: Choose, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_npu(monkeypatch)
    cuda_of(monkeypatch, 2)
    accel = chosen(wanted)
    assert accel.device_type == "cuda"
    for name in ("synchronize", "Stream", "device", "memory_allocated", "set_rng_state_all"):
        assert getattr(accel, name) is getattr(torch.cuda, name)
    assert accel.nvtx is torch.cuda.nvtx
    assert accel.device_ids(1) == [1]
    assert accel.device_id(1) == 1
    assert accel.device_map_value(1) == 1
    assert accel.dist_backend() == "nccl"
    assert accel.dist_backend(cpu=True) == "cpu:gloo,cuda:nccl"
    assert accel.map_location is None
    assert accel.torch_device(3) == accel.torch_device("3") == torch.device("cuda:3")
    assert accel.torch_device() == torch.device("cuda")
    assert accel.torch_device("cpu") == torch.device("cpu")
    assert accel.is_accelerator(torch.ones(1)) is False
    assert accel.is_accelerator(torch.ones(1, device="meta")) is False
    assert accel.is_accelerator(torch.nn.Linear(1, 1)) is False
    assert accel.is_accelerator("cuda:1") is True
    assert accel.is_accelerator(torch.device("cuda")) is True
    assert accel.is_accelerator("cpu") is False
    assert accel.is_accelerator(types.SimpleNamespace(device="cuda:0")) is True
    assert accel.is_accelerator(types.SimpleNamespace(device=torch.device("cuda", 1))) is True
    assert accel.is_accelerator(types.SimpleNamespace(device="cpu")) is False
    assert accel.is_accelerator(types.SimpleNamespace(device=0)) is False
    assert [kind.name for kind in accel.profiler_activities()] == ["CPU", "CUDA"]


@pytest.mark.parametrize(
    "error", [ImportError("libhccl.so"), OSError("bad ELF"), RuntimeError("two accelerators")]
)
def test_broken_torch_npu_warns_once_and_the_next_is_taken(
    error: Exception, chosen: Choose, monkeypatch: pytest.MonkeyPatch, warned: list[str]
) -> None:
    broken_npu(monkeypatch, error)
    cuda_of(monkeypatch, 0)
    accel = chosen("auto")
    assert (accel.device_type, accel.dist_backend()) == ("cpu", "gloo")
    assert len(warned) == 1
    assert str(error) in warned[0]
    assert "PORTER_DEVICE=npu" in warned[0]


def test_forced_and_broken_raises_with_the_cause(
    chosen: Choose, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken_npu(monkeypatch, OSError("libascendcl.so: cannot open"))
    with pytest.raises(RuntimeError, match=r"PORTER_DEVICE=npu.*libascendcl\.so") as raised:
        _ = chosen("npu").device_type
    assert isinstance(raised.value.__cause__, OSError)


@pytest.mark.parametrize("wanted", ["npu", "cuda", "xpu", "mps"])
def test_forced_and_absent_raises(
    wanted: str, chosen: Choose, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_npu(monkeypatch)
    cuda_of(monkeypatch, 0)
    with pytest.raises(RuntimeError, match=f"^PORTER_DEVICE={wanted}, but "):
        _ = chosen(wanted).device_type


def test_unknown_word_is_refused(chosen: Choose) -> None:
    with pytest.raises(RuntimeError, match=r"PORTER_DEVICE='gpu'.*auto, npu, cuda, xpu, mps, cpu"):
        _ = chosen("gpu").device_type


def test_the_choice_is_logged_once(
    chosen: Choose, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    accel = chosen("cpu")
    with caplog.at_level(logging.INFO, logger="porter_runtime"):
        accel.synchronize()
        accel.memory_allocated()
    assert len(caplog.records) == 1
    assert "using cpu" in caplog.text
    assert "memory figures are 0" in caplog.text


def test_a_count_that_torch_caches_stays_open(
    chosen: Choose, monkeypatch: pytest.MonkeyPatch
) -> None:
    """torch 2.1 and torch_npu 2.1 wrap device_count in lru_cache."""
    import functools

    no_npu(monkeypatch)
    counts: list[int] = [4, 1]
    cached = functools.lru_cache(maxsize=1)(lambda: counts.pop(0))
    monkeypatch.setattr(torch.cuda, "device_count", cached)
    accel = chosen("cuda")
    assert accel.device_type == "cuda"
    assert accel.device_count() == 1


@pytest.mark.parametrize(
    ("driver", "expected"), [(11080, "cpu"), (12000, "cuda"), (12080, "cuda"), (13000, "cuda")]
)
def test_a_driver_that_is_too_old_is_passed_over(
    driver: int,
    expected: str,
    chosen: Choose,
    monkeypatch: pytest.MonkeyPatch,
    warned: list[str],
) -> None:
    """NVML counts the devices of such a driver, which the CUDA runtime can't start."""

    class Driver:
        @staticmethod
        def cuDriverGetVersion(version: Any) -> int:
            version._obj.value = driver
            return 0

    no_npu(monkeypatch)
    cuda_of(monkeypatch, 1)
    monkeypatch.setattr(torch.version, "cuda", "12.6")
    monkeypatch.setattr("ctypes.CDLL", lambda name: {"libcuda.so.1": Driver}[name])
    assert chosen("auto").device_type == expected
    assert len(warned) == (expected == "cpu")
    if warned:
        assert "the driver runs CUDA 11.8 at most" in warned[0]
        with pytest.raises(RuntimeError, match=r"PORTER_DEVICE=cuda, but .*CUDA 12\.6: update"):
            _ = chosen("cuda").device_type


@pytest.mark.parametrize("failure", ["no library", "not initialised"])
def test_a_driver_that_does_not_tell_is_trusted(
    failure: str, chosen: Choose, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(name: str) -> Any:
        if failure == "no library":
            raise OSError(name)
        return types.SimpleNamespace(cuDriverGetVersion=lambda version: 3)

    no_npu(monkeypatch)
    cuda_of(monkeypatch, 1)
    monkeypatch.setattr(torch.version, "cuda", "12.6")
    monkeypatch.setattr("ctypes.CDLL", load)
    assert chosen("auto").device_type == "cuda"


@pytest.mark.parametrize("counted_by_torch", [True, False])
def test_mps_when_forced(
    counted_by_torch: bool, chosen: Choose, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(torch.mps, "device_count", lambda: 1, raising=False)
    if not counted_by_torch:
        monkeypatch.delattr(torch.mps, "device_count")
    accel = chosen("mps")
    assert accel.device_type == "mps"
    assert accel.synchronize is torch.mps.synchronize
    assert (accel.device_count(), accel.current_device()) == (1, 0)
    assert accel.torch_device(3) == torch.device("mps", 0)
    assert accel.map_location["cuda:3"] == "mps:0"
    assert accel.dist_backend() == accel.dist_backend(cpu=True) == "gloo"
    with pytest.raises(AttributeError, match=r"torch\.mps has no 'memory_summary'"):
        accel.memory_summary()


@pytest.mark.skipif(not hasattr(torch, "xpu"), reason="torch.xpu came after torch 2.1")
def test_xpu_when_forced(chosen: Choose, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.xpu, "device_count", lambda: 2)
    accel = chosen("xpu")
    assert accel.device_type == "xpu"
    assert accel.Stream is torch.xpu.Stream
    assert accel.memory_cached is torch.xpu.memory_reserved
    assert accel.reset_max_memory_allocated is torch.xpu.reset_peak_memory_stats
    assert accel.visible_devices_env == "ZE_AFFINITY_MASK"
    assert accel.dist_backend() == "xccl"
    assert accel.dist_backend(cpu=True) == "cpu:gloo,xpu:xccl"


def test_importing_costs_no_torch_and_choosing_starts_no_device(run_python: Any) -> None:
    done = run_python(
        "import sys\n"
        "import porter_runtime as accel\n"
        "assert 'torch' not in sys.modules\n"
        "import torch\n"
        "def forbidden(*args, **kwargs): raise AssertionError('device started')\n"
        "torch.cuda._lazy_init = torch.cuda.is_available = forbidden\n"
        "torch._C._cuda_getDeviceCount = forbidden if torch.version.cuda is None else (lambda: 0)\n"
        "print(accel.device_type, accel.dist_backend(), accel.torch_device(1))\n"
        "assert not torch.cuda.is_initialized()\n"
        "assert 'CUDA_VISIBLE_DEVICES' not in __import__('os').environ\n",
    )
    assert done.stdout.split() == ["cpu", "gloo", "cpu"], done.stderr


def test_a_forced_and_absent_device_ends_the_program_with_the_message(run_python: Any) -> None:
    done = run_python("import porter_runtime as a\nprint(a.device_type)\n", PORTER_DEVICE="xpu")
    assert done.returncode == 1
    assert "PORTER_DEVICE=xpu, but torch" in done.stderr.splitlines()[-1]


def test_a_fresh_torch_npu_is_imported_without_autoload(tmp_path: Any, run_python: Any) -> None:
    (tmp_path / "torch_npu.py").write_text("raise OSError('libhccl.so: no such file')\n")
    source = "import warnings; warnings.simplefilter('always')\nimport porter_runtime as a\n"
    done = run_python(source + "print(a.device_type)\n", TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert done.stdout.split() == ["cpu"], done.stderr
    assert done.stderr.count("libhccl.so") == 1
    done = run_python(source + "print(a.device_type)\n", PORTER_DEVICE="npu")
    assert "libhccl.so" in done.stderr.splitlines()[-1]


def test_nothing_is_patched(chosen: Choose, monkeypatch: pytest.MonkeyPatch) -> None:
    before = dict(vars(torch.cuda))
    environment = dict(os.environ, PORTER_DEVICE="cpu")
    accel = chosen("cpu")
    for name in dir(accel):
        getattr(accel, name)
    assert {k: v for k, v in vars(torch.cuda).items() if k in before} == before
    assert dict(os.environ) == environment
    assert isinstance(torch.cuda, types.ModuleType)
