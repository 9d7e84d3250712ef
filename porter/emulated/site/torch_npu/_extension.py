"""Loads the C++ half, which porter builds outside of this package."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from types import ModuleType

LIBRARY_VARIABLE = "EMULATED_NPU_LIBRARY"


def load() -> ModuleType:
    """Loads the extension as ``torch_npu._C``.

    Raises:
        ImportError: if the environment doesn't name the built library.
    """
    path = os.environ.get(LIBRARY_VARIABLE)
    if not path:
        raise ImportError(
            f"the emulated torch_npu needs {LIBRARY_VARIABLE}: start the process with the "
            "environment that porter.emulated.emulated_env() returns"
        )
    name = f"{__package__}._C"
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    sys.modules[name] = module
    return module
