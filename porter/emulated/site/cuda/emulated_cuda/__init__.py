"""An emulated CUDA: devices of type ``cuda`` that live on the CPU, for a torch built without CUDA.

torch.cuda stays torch's own code. What lies below it, the functions and classes that a CUDA build
has in ``torch._C``, is put there before torch imports the modules that look for it.
``porter.emulated.emulated_env`` builds the extension and puts this package on a child's path.
"""

from __future__ import annotations

import importlib
import importlib.abc
from typing import Any

# The module here that goes before each of torch's.
_BEFORE = {
    "torch._C": "library",
    "torch.cuda": "runtime",
    "torch.distributed.distributed_c10d": "process_group",
}


class Finder(importlib.abc.MetaPathFinder):
    """Finds nothing; it sees what torch is about to import, and prepares it."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        """Returns None, for other finders to find the module."""
        if fullname in _BEFORE:
            importlib.import_module(f"{__name__}.{_BEFORE[fullname]}").install()


def _autoload() -> None:
    """Finishes what only a whole torch can have; torch calls this entry point last."""
    from . import after_import

    after_import.install()
