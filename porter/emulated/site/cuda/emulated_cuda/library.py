"""The C++ half as a plain library, before there is a torch that Python can use."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

from emulated_device import library_path  # type: ignore[import-not-found]


def install() -> None:
    """Registers the device with torch's own libraries.

    It must be there when torch._C loads, for that asks what CUDA can do, once and for all.
    """
    (package,) = sys.modules["torch"].__path__
    # With it come the libraries that the extension needs, for that doesn't know where they lie.
    ctypes.CDLL(str(Path(package) / "lib" / "libtorch_python.so"))
    ctypes.CDLL(library_path("emulated_cuda"))
