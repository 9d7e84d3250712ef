"""What the Python sides of the emulated NPU and the emulated CUDA share."""

from __future__ import annotations

import atexit
import importlib.machinery
import importlib.util
import os
import sys
import time
from collections.abc import Callable
from types import ModuleType

LIBRARY_VARIABLE = "EMULATED_LIBRARY"


def library_path(package: str) -> str:
    """Returns the path of the C++ half of `package`, which porter builds outside of it.

    Raises:
        ImportError: if the environment doesn't name it.
    """
    path = os.environ.get(LIBRARY_VARIABLE)
    if not path:
        raise ImportError(
            f"the emulated {package} needs {LIBRARY_VARIABLE}: start the process with the "
            "environment that porter.emulated.emulated_env() returns"
        )
    return path


def load_extension(package: str) -> ModuleType:
    """Loads the C++ half as the module ``_C`` of `package`."""
    name = f"{package}._C"
    path = library_path(package)
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    sys.modules[name] = module
    return module


def settle_at_exit(is_initialized: Callable[[], bool]) -> None:
    """Lets the threads that ran backward passes finish before the interpreter does."""

    def settle() -> None:
        # The thread that ran the last backward pass takes the GIL to drop its graph. Where the
        # interpreter finalizes first, that aborts the process; so it gets its turn.
        if is_initialized():
            time.sleep(0.02)

    atexit.register(settle)
