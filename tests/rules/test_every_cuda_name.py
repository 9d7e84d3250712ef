"""Each public name of the installed torch.cuda is in exactly one table of the rules."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

import pytest
import torch

from porter.engine import rewrite_source
from porter.model import Level
from porter_rules.names import (
    AMP,
    HOMES,
    LEGACY_TYPES,
    MIRRORED,
    NVTX,
    REFUSED,
    at_home,
    why_refused,
)
from porter_runtime import _names

MODULES = frozenset({"amp", *HOMES})
"""Submodules whose own names are classified, one by one."""


def public_names(module: ModuleType) -> set[str]:
    """What a module lists or defines; not what it merely imports."""
    names = set(getattr(module, "__all__", ()))
    for name, value in vars(module).items():
        if getattr(value, "__module__", "") == module.__name__:
            names.add(name)
    return {name for name in names if not name.startswith("_")}


SUBMODULES = sorted(
    found.name for found in pkgutil.iter_modules(torch.cuda.__path__) if found.name[0] != "_"
)
NAMES = sorted(public_names(torch.cuda) | set(SUBMODULES))


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_in_exactly_one_table(name: str) -> None:
    tables = {
        "mirrored": name in MIRRORED,
        "legacy types": name in LEGACY_TYPES,
        "refused": name in REFUSED,
        "modules": name in MODULES - set(REFUSED),
    }
    assert sum(tables.values()) == 1, tables


@pytest.mark.parametrize("home", sorted(HOMES))
def test_what_a_submodule_defines_is_classified_too(home: str) -> None:
    module = importlib.import_module(f"torch.cuda.{home}")
    for name in public_names(module):
        assert (name in MIRRORED) != (name in REFUSED), f"{home}.{name}"
        if hasattr(torch.cuda, name):
            assert getattr(module, name) is getattr(torch.cuda, name), "its home is left out"


def test_nvtx_is_whole() -> None:
    assert public_names(torch.cuda.nvtx) == NVTX


def test_amp_is_whole() -> None:
    listed = {f"amp.{name}" for name in public_names(torch.cuda.amp)}
    assert listed - {"amp.amp_definitely_not_available"} <= AMP.keys()
    assert set(AMP.values()) <= _names.OWN


def test_the_shim_has_what_rules_emit_and_lacks_what_they_refuse() -> None:
    emitted = {name.partition(".")[0] for name in MIRRORED.values()} | LEGACY_TYPES
    assert emitted <= _names.MIRRORED
    assert _names.MIRRORED - emitted == {"get_device_capability"}, "None off CUDA: a person's call"
    assert set(_names.REFUSED) - MODULES <= REFUSED.keys()
    assert not REFUSED.keys() & emitted


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_a_refusal_names_the_construct_and_the_next_step(name: str) -> None:
    reason = why_refused(name)
    assert reason is not None
    assert reason.startswith(f"torch.cuda.{name} ")
    assert ": " in reason, "what to do stands behind a colon"


@pytest.mark.parametrize("name", [n for n in NAMES if n in MIRRORED or n in LEGACY_TYPES])
def test_a_mirrored_name_is_ported_wherever_it_stands(name: str) -> None:
    before = f"import torch\nx = torch.cuda.{name}\ndef f(a=torch.cuda.{name}): ...\n"
    result = rewrite_source(before.encode())
    assert result.output.decode().count(f"accel.{name}") == 2
    assert "torch.cuda" not in result.output.decode()


@pytest.mark.parametrize("name", [n for n in NAMES if n in REFUSED])
def test_a_refused_name_is_left_and_reported(name: str) -> None:
    before = f"import torch\nx = torch.cuda.{name}\n"
    result = rewrite_source(before.encode())
    assert result.output.decode() == before
    assert [(f.level, f.line) for f in result.findings] == [(Level.MANUAL, 2)]


def test_homes_are_left_out_of_public_names_only() -> None:
    assert at_home("memory.empty_cache") == "empty_cache"
    assert at_home("memory._snapshot") == "memory._snapshot"
    assert at_home("memory") == "memory"
    assert at_home("nccl.version") == "nccl.version"
