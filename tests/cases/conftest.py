from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import porter_runtime

pytest.register_assert_rewrite("tests.cases.harness")


@pytest.fixture
def accel(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The shim on the CPU, whatever the machine has."""
    monkeypatch.setenv("PORTER_DEVICE", "cpu")
    porter_runtime._reset()  # type: ignore[attr-defined]
    yield porter_runtime
    porter_runtime._reset()  # type: ignore[attr-defined]
