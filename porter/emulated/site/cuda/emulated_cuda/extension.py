"""The C++ half, for the modules of this package."""

from __future__ import annotations

from emulated_device import load_extension  # type: ignore[import-not-found]

__all__ = ["_C"]

_C = load_extension("emulated_cuda")
