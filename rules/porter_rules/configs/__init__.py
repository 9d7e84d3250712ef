"""The rules about files of configuration: one file per rule; none of them imports libcst."""

from __future__ import annotations

import functools
import importlib
import pkgutil


@functools.cache
def load() -> None:
    """Import every module of this package, which registers its rules."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
