"""porter's rules: one file per rule, and tables for plain renames."""

from __future__ import annotations

import functools
import importlib
import pkgutil


@functools.cache
def load() -> None:
    """Import every module of this package, which registers its rules."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
