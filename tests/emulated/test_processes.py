"""Visibility of devices, initialization, forking and process groups: matters of whole processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emulated.conftest import Run

PROGRAMS = Path(__file__).parent / "programs"


pytestmark = pytest.mark.parametrize("backend", ["npu", "cuda"])


@pytest.mark.parametrize("devices", ["-1", "65", "two"])
def test_an_impossible_number_of_devices_is_an_error(
    backend: str, devices: str, run_emulated: Run
) -> None:
    variable = f"EMULATED_{backend.upper()}_DEVICES"
    child = run_emulated(
        "-c", f"import torch; torch.{backend}.device_count()", backend=backend,
        **{variable: devices},
    )  # fmt: skip
    assert f"{variable} must be a number from 0 to 64" in child.stderr


@pytest.mark.parametrize(
    ("program", "devices"),
    [("no_devices", 0), ("initialization", 1), ("fork", 1), ("visible_devices", 4)],
)
def test_program(backend: str, program: str, devices: int, run_emulated: Run) -> None:
    child = run_emulated(str(PROGRAMS / f"{program}.py"), backend=backend, devices=devices)
    assert (child.returncode, child.stdout) == (0, "done\n"), child.stderr


@pytest.mark.parametrize(
    "program", ["data_parallel", "collectives", "fully_sharded", "sync_batch_norm"]
)
def test_two_processes(backend: str, program: str, run_emulated: Run) -> None:
    child = run_emulated(
        "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2",
        str(PROGRAMS / f"{program}.py"), backend=backend, devices=2,
    )  # fmt: skip
    assert child.returncode == 0, child.stderr
    assert child.stdout.count("done") == 2
