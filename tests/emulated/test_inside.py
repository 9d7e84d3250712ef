"""Runs the tests in ``inside/`` in processes that have the devices that they need."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.emulated.conftest import Run

INSIDE = Path(__file__).parent / "inside"
BOTH = ["test_training", "test_mixed_devices", "test_device_api"]
# The tests that share a process, and the process.
PROCESSES: dict[str, tuple[list[str], dict[str, Any]]] = {
    "npu": ([*BOTH, "test_npu", "test_npu_surface"], {"backend": "npu"}),
    "cuda": ([*BOTH, "test_cuda"], {"backend": "cuda"}),
    "two npus": (["test_two_devices"], {"backend": "npu", "devices": 2}),
    "two cuda devices": (
        ["test_two_devices", "test_cuda_data_parallel"],
        {"backend": "cuda", "devices": 2},
    ),
    "strict npu": (["test_npu_strict"], {"backend": "npu", "strict": True}),
    "npu by the shim": (["test_shim"], {"backend": "npu", "PORTER_DEVICE": "npu"}),
    "cuda by the shim": (["test_shim"], {"backend": "cuda", "PORTER_DEVICE": "cuda"}),
}


@pytest.mark.parametrize("process", PROCESSES)
def test_inside(process: str, run_emulated: Run) -> None:
    names, options = PROCESSES[process]
    paths = [str(INSIDE / f"{name}.py") for name in names]
    child = run_emulated(
        "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", *paths, **options
    )
    assert child.returncode == 0, child.stdout + child.stderr


def test_no_test_is_left_out() -> None:
    named = {name for names, _ in PROCESSES.values() for name in names}
    assert named == {path.stem for path in INSIDE.glob("test_*.py")}
