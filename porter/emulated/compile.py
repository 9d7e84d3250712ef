"""Compiles the extension; `build` runs this file in a process of its own, since it imports torch.

Usage: ``compile.py BACKEND SOURCE_DIRECTORY BUILD_DIRECTORY``, where BACKEND is npu or cuda.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch.utils import cpp_extension

if __name__ == "__main__":
    backend, sources, directory = sys.argv[1:]
    if backend == "cuda" and torch.version.cuda:
        raise SystemExit("error: it needs a torch built without CUDA, and this one has CUDA itself")
    cpp_extension.load(
        name="_C",
        sources=sorted(str(source) for source in Path(sources).glob("*.cpp")),
        # -O1: kernels are torch's own, so more buys nothing but a longer build.
        extra_cflags=["-std=c++20", "-O1", "-g0", f"-DEMULATED_{backend.upper()}"],
        build_directory=directory,
        is_python_module=False,
        verbose=True,
    )
