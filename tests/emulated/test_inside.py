"""Runs the tests in ``inside/``, each file in a process of its own with the devices it needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.emulated.conftest import Run

INSIDE = Path(__file__).parent / "inside"
OPTIONS: dict[str, dict[str, Any]] = {
    "test_two_devices": {"devices": 2},
    "test_strict": {"strict": True},
    "test_shim": {"PORTER_DEVICE": "npu"},
}


@pytest.mark.parametrize("name", sorted(path.stem for path in INSIDE.glob("test_*.py")))
def test_inside(name: str, run_emulated: Run) -> None:
    path = INSIDE / f"{name}.py"
    child = run_emulated(
        "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", str(path),
        **OPTIONS.get(name, {}),
    )  # fmt: skip
    assert child.returncode == 0, child.stdout + child.stderr
