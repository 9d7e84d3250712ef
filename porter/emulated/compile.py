"""Compiles the extension; `build` runs this file in a process of its own, since it imports torch.

Usage: ``compile.py SOURCE_DIRECTORY BUILD_DIRECTORY``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from torch.utils import cpp_extension

if __name__ == "__main__":
    cpp_extension.load(
        name="_C",
        sources=sorted(str(source) for source in Path(sys.argv[1]).glob("*.cpp")),
        # -O1: kernels are torch's own, so more buys nothing but a longer build.
        extra_cflags=["-std=c++20", "-O1", "-g0"],
        build_directory=sys.argv[2],
        is_python_module=False,
        verbose=True,
    )
