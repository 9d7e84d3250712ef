"""porter ports PyTorch code that is hard-coded for CUDA to Ascend NPU, CUDA and CPU."""

from __future__ import annotations

__version__ = "0.1.0"
