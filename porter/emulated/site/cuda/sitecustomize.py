"""Prepares the emulated CUDA. Python runs this file when it starts, for it is on the path."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from pathlib import Path

import emulated_cuda  # type: ignore[import-not-found]


def _run_the_hidden_one() -> None:
    # Only what comes later on the path is hidden. One before this file may have run it, and would
    # be run again.
    path = [Path(entry).absolute() for entry in sys.path]
    rest = sys.path[path.index(Path(__file__).absolute().parent) + 1 :]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


sys.meta_path.insert(0, emulated_cuda.Finder())
_run_the_hidden_one()
