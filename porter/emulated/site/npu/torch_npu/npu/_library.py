"""The C++ half, for the modules of this package."""

from __future__ import annotations

from .. import _C  # noqa: TID252

__all__ = ["_C"]
