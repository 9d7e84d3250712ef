"""``torch.npu`` has the names and parameters of the real package (data/ holds them)."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest
import torch
import torch_npu  # type: ignore[import-not-found]
from torch_npu.npu import _absent  # type: ignore[import-not-found]

npu = torch.get_device_module("npu")

TABLE = Path(__file__).parents[1] / "data" / "torch_npu-2.13.0.json"
REAL: dict[str, list[str] | None] = json.loads(TABLE.read_text())
PRESENT = [name for name in REAL if name not in _absent.NAMES]


def test_absent_names_are_real_ones_that_raise() -> None:
    assert set(_absent.NAMES) <= set(REAL)
    for name in _absent.NAMES:
        with pytest.raises(NotImplementedError, match=name):
            getattr(npu, name)()


def test_all_names_are_the_real_ones() -> None:
    assert sorted(npu.__all__) == sorted(REAL)
    for name in REAL:
        assert hasattr(npu, name), name


@pytest.mark.parametrize("name", [name for name in PRESENT if REAL[name] is not None])
def test_parameters_are_the_real_ones(name: str) -> None:
    assert parameters(getattr(npu, name)) == REAL[name]


def parameters(function: object) -> list[str]:
    """Describes a callable's parameters as the table does."""
    found = []
    starred = False
    maker = function
    if isinstance(function, type):
        own_new = "__new__" in vars(function)
        maker = vars(function)["__new__" if own_new else "__init__"]
    signature = inspect.signature(maker)  # type: ignore[arg-type]
    for index, each in enumerate(signature.parameters.values()):
        if isinstance(function, type) and index == 0:
            continue
        if each.kind is each.VAR_POSITIONAL:
            starred = True
            found.append(f"*{each.name}")
        elif each.kind is each.VAR_KEYWORD:
            found.append(f"**{each.name}")
        else:
            if each.kind is each.KEYWORD_ONLY and not starred:
                starred = True
                found.append("*")
            default = "" if each.default is each.empty else f"={each.default!r}"
            found.append(each.name + default)
    return found


def test_the_vendors_operators_are_known() -> None:
    for name in torch_npu._operators.OPERATORS:
        with pytest.raises(NotImplementedError):
            getattr(torch_npu, name)()
