"""Every public name of torch.cuda is mirrored, or refused with a reason."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import porter_runtime
from porter_runtime import _names

HERE = Path(porter_runtime.__file__).parent


def public_names(module: Any) -> set[str]:
    """What a module lists, defines, or has as a submodule; not what it merely imports."""
    names = set(module.__all__) | {found.name for found in pkgutil.iter_modules(module.__path__)}
    for name, value in vars(module).items():
        if str(getattr(value, "__module__", "")).startswith(module.__name__):
            names.add(name)
    return {name for name in names if not name.startswith("_")}


def test_every_public_name_of_torch_cuda_is_classified() -> None:
    unclassified = public_names(torch.cuda) - _names.MIRRORED - set(_names.REFUSED)
    assert not unclassified, "mirror these names or refuse them with a reason"


def test_no_name_is_in_two_classes() -> None:
    refused = set(_names.REFUSED)
    assert not _names.MIRRORED & refused
    assert not _names.OWN & refused
    assert not _names.MIRRORED & _names.OWN


@pytest.mark.parametrize("name", sorted(_names.REFUSED))
def test_refused_names_say_why(name: str, accel: Any) -> None:
    with pytest.raises(AttributeError) as raised:
        getattr(accel, name)
    assert f"torch.cuda.{name}: " in str(raised.value)
    assert str(raised.value).endswith(_names.REFUSED[name])
    assert len(_names.REFUSED[name]) > 20


def test_every_name_that_a_rule_can_write_is_there() -> None:
    """The names handed to `runtime`, those in examples, and those that messages advise."""
    pytest.importorskip("libcst")
    from porter_rules import amp_names, autocast_state, hf_helpers, names

    written = {*names.MIRRORED.values(), *names.AMP.values(), *names.LEGACY_TYPES}
    written |= {*amp_names.OF_A_DEVICE.values(), *autocast_state._QUESTIONS.values()}
    written |= {*hf_helpers._MIRRORED.values()}
    for file in Path(names.__file__).parent.glob("*.py"):
        text = file.read_text(encoding="utf-8")
        written |= set(re.findall(r"""\bruntime(?:_call)?\(\s*["'](\w+)""", text))
        written |= set(re.findall(r"\baccel\.([A-Za-z]\w*)", text))
    written = {name.partition(".")[0] for name in written}
    assert len(written) > 80
    assert written <= _names.MIRRORED | _names.OWN


def test_unknown_and_private_names_are_ordinary_attribute_errors(accel: Any) -> None:
    for name in ("no_such_name", "__wrapped__", "_lazy_init"):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
            getattr(accel, name)
    assert not hasattr(accel, "cudart")
    with pytest.raises(ImportError):
        importlib.import_module("porter_runtime.amp")


def test_dir_lists_all_names(accel: Any) -> None:
    assert set(dir(accel)) >= _names.MIRRORED | _names.OWN


def test_the_stub_declares_exactly_the_names_of_the_shim() -> None:
    declared: set[str] = set()
    for node in ast.parse((HERE / "__init__.pyi").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("torch"):
            declared |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            declared.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            declared.add(node.target.id)
    assert declared - {"__version__"} == _names.MIRRORED | _names.OWN


def test_the_names_load_by_path_without_torch() -> None:
    source = (
        "import importlib.util, sys\n"
        f"spec = importlib.util.spec_from_file_location('names', {str(HERE / '_names.py')!r})\n"
        "module = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(module)\n"
        "print(len(module.MIRRORED), 'torch' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert done.stdout.split() == [str(len(_names.MIRRORED)), "False"], done.stderr


def test_the_folder_is_small_and_imports_torch_alone() -> None:
    files = sorted(HERE.glob("*.py"))
    assert len(files) <= 5
    imported: set[str] = set()
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), feature_version=(3, 8))):
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                imported.add(str(node.module).partition(".")[0])
            elif isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
    assert "torch" in imported
    for name in imported - {"torch", "__future__"}:
        found = importlib.util.find_spec(name)
        assert found is not None
        assert "site-packages" not in str(found.origin), name
