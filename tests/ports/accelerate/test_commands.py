"""Accelerate's own commands, ported: env, config default, launch --gpu_ids, test."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.trainings import free_port
from tests.ports.accelerate.runs import HERE, MENDS, Run, Tree
from tests.ports.command import porter
from tests.ports.conftest import Figure

pytestmark = pytest.mark.slow

LIMIT: dict[str, Any] = dict.fromkeys(["EMULATED_NPU_MEMORY", "EMULATED_CUDA_MEMORY"], str(6 << 20))
BATCH_SIZE = str(HERE / "programs" / "batch_size.py")


def told(run: Run, key: str) -> str | None:
    """Returns the value in a line `- key: value` of `accelerate env`."""
    assert run.returncode == 0, run.output
    found = re.search(rf"^- {re.escape(key)}: (.*)$", run.output, re.MULTILINE)
    return found[1] if found else None


def test_env_names_the_device(original: Tree, port: Tree) -> None:
    run = port.run("accelerate", "env", backend="npu-emulated")
    assert (told(run, "PyTorch version (GPU?)") or "").endswith("(True)")
    assert "emulated" in (told(run, "GPU type") or "")
    assert run.trapped == []
    without = [tree.run("accelerate", "env") for tree in (original, port)]
    assert [told(run, "GPU type") for run in without] == [None, None]
    assert without[0].output == without[1].output
    before = original.run("accelerate", "env", backend="npu-emulated")
    assert (told(before, "PyTorch version (GPU?)") or "").endswith("(False)")
    assert before.trapped


@pytest.mark.parametrize(
    ("backend", "devices", "expected"),
    [
        ("cpu", 1, ("NO", 1, True)),
        ("npu-emulated", 1, ("NO", 1, False)),
        ("npu-emulated", 2, ("MULTI_GPU", 2, False)),
    ],
    ids=["cpu", "npu", "two npus"],
)
def test_default_config_counts_the_devices(
    backend: str, devices: int, expected: tuple[str, int, bool], port: Tree, tmp_path: Path
) -> None:
    file = tmp_path / "config.json"
    command = ("accelerate", "config", "default", "--config_file", str(file))
    run = port.run(*command, backend=backend, devices=devices)
    assert run.returncode == 0, run.output
    config = json.loads(file.read_text())
    keys = ("distributed_type", "num_processes", "use_cpu")
    assert tuple(config[key] for key in keys) == expected
    assert run.trapped == []


@pytest.mark.parametrize("devices", [1, 2])
def test_accelerates_own_test_passes(
    devices: int, port: Tree, tmp_path: Path, figure: Figure
) -> None:
    file = tmp_path / "config.json"
    default = ("accelerate", "config", "default", "--config_file", str(file))
    assert port.run(*default, backend="npu-emulated", devices=devices).returncode == 0
    config = json.loads(file.read_text())
    file.write_text(json.dumps({**config, "main_process_port": free_port()}))
    run = port.run(
        "accelerate", "test", "--config_file", str(file), backend="npu-emulated", devices=devices
    )
    figure(f"accelerate test, npu-emulated, {devices} process(es): {run.seconds:.1f} s")
    assert "Test is a success!" in run.output, run.output
    assert run.output.count("Device: npu") == devices
    assert f"Num processes: {devices}" in run.output
    assert "FP16 training check." in run.output, "the half of it that wants an accelerator"
    assert run.trapped == []


def test_accelerates_own_test_passes_on_the_cpu(port: Tree) -> None:
    run = port.run("accelerate", "test")
    assert "Test is a success!" in run.output, run.output
    assert "Device: cpu" in run.output


def test_the_batch_size_fits_the_memory_once_mended(
    original: Tree, port: Tree, mended_port: Tree, figure: Figure
) -> None:
    cuda = original.run(BATCH_SIZE, backend="cuda-emulated", **LIMIT)
    assert "found 16 cuda" in cuda.output
    for tree in (port, mended_port):
        assert tree.run(BATCH_SIZE, backend="cuda-emulated", **LIMIT).output == cuda.output
    npu = mended_port.run(BATCH_SIZE, backend="npu-emulated", **LIMIT)
    figure(f"accelerate, npu-emulated, batch size search: {npu.output.splitlines()[-1]}")
    assert npu.output == cuda.output.replace("cuda", "npu")
    assert npu.trapped == []
    assert mended_port.run(BATCH_SIZE).output == original.run(BATCH_SIZE).output
    unmended = port.run(BATCH_SIZE, backend="npu-emulated", **LIMIT)
    assert unmended.returncode == 1
    assert "NPU out of memory" in unmended.output


def test_what_is_mended_is_what_porter_says(port: Tree) -> None:
    report = json.loads(porter("check", "--all", "--format=json", str(port.folder)).stdout)
    said = {
        Path(file["path"]).relative_to(port.package).as_posix(): finding["message"]
        for file in report["files"]
        for finding in file["findings"]
        if finding["code"] in ("PTR602", "PTR604")
    }
    assert said.keys() == MENDS.keys()
    assert "accel.is_out_of_memory" in said["utils/memory.py"]
    assert "ASCEND_RT_VISIBLE_DEVICES" in said["utils/launch.py"]
