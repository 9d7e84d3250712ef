"""Acts right after torch was imported, whoever imports it and whenever."""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
from typing import Any

from .settings import Settings


class _Finder(importlib.abc.MetaPathFinder):
    """Finds torch as the other finders do, and has its loader call us at the end."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._busy = False

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        """Return torch's own spec; None for everything else."""
        if fullname != "torch" or self._busy:
            return None
        self._busy = True  # the other finders are asked, not this one again
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._busy = False
        loader: Any = spec and spec.loader
        if loader is None:
            return spec
        execute = loader.exec_module

        def exec_module(module: Any) -> None:
            del loader.exec_module  # the loader is as it was
            execute(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            from .watching import install

            install(self._settings)

        # On the instance: the module's loader keeps its class, which others look at.
        loader.exec_module = exec_module
        return spec


def watch(settings: Settings) -> None:
    """Install the watching once torch is there."""
    sys.meta_path.insert(0, _Finder(settings))
