"""Calls of kernels that are compiled for CUDA, told by how extensions are called."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

_KERNEL = re.compile(
    rb"\b(?!is_)(?:_?cuda_\w+|\w+(?<!to)_cuda)(?:\.\w+)*\("
    rb"|\b(?:_C|(?:\w*_)?ext(?:_module|ension)?)\.\w+\("
    rb"|\bimport\b(?:[ \t]*\([^)]*|[^\n]*)\b(?!is_|use_|has_)(?:_C|\w+(?<!to)_cuda)\b"
)
_WRITTEN = re.compile(
    rb"^[ \t]*(?:from[ \t]+numba[ \t]+import\b[^\n]*\bcuda\b"
    rb"|(?:import|from)[ \t]+(?:numba\.cuda|cupy)\b)",
    re.MULTILINE,
)
_APPLIED = re.compile(rb"\b(\w+)\s*=\s*(\w+)\.apply\b(?!\()")


def calls_kernel(text: bytes) -> bool:
    """Whether a text calls, or imports, a kernel of CUDA.

    It does with `roi_cuda.forward(...)`, `_C.nms(...)` and `from ops import roi_cuda as roi`, but
    not with `to_cuda(...)`, which moves a tensor.
    """
    return _KERNEL.search(text) is not None


def writes_kernels(data: bytes) -> bool:
    """Whether a file writes kernels for CUDA itself, with numba or CuPy."""
    return (b"numba" in data or b"cupy" in data) and _WRITTEN.search(data) is not None


def kernel_functions(classes: Iterable[ast.ClassDef], data: bytes) -> frozenset[str]:
    """Return those of a file's functions of torch.autograd that call kernels, as they are called.

    That is "Roi.apply", and "roi" where the file says `roi = Roi.apply`.
    """
    lines = data.splitlines()
    found = {
        c.name for c in classes if calls_kernel(b"\n".join(lines[c.lineno - 1 : c.end_lineno]))
    }
    applied = ((m[1].decode(), m[2].decode()) for m in _APPLIED.finditer(data))
    return frozenset(f"{name}.apply" for name in found) | {
        a for a, name in applied if name in found
    }
