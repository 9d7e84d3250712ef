"""What this machine has for training on an NPU, on CUDA and on the CPU, and what it lacks.

`examine` looks at everything and returns `Section`s of entries. Nothing here imports torch: the
probe does, in a process of its own, since an accelerator's package may take its process down.
"""

from __future__ import annotations

from .entry import Entry, Section, State
from .examination import examine

__all__ = ["Entry", "Section", "State", "examine"]
