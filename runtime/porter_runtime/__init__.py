"""torch.cuda's names for whatever device is here: Ascend NPU, CUDA or the CPU.

`import porter_runtime as accel`, then `accel.synchronize()`, `accel.Stream`, `accel.device_type`.
The names are torch.cuda's, spelled and ordered alike, and a few more that torch.cuda lacks; the
stub `__init__.pyi` lists them all. On CUDA they are torch.cuda's own objects, on an NPU mostly
torch.npu's, and without an accelerator each has a meaning on the CPU.

Importing this package imports nothing else, not even torch: so it may stand before writes to
`os.environ` that torch reads. The first name used chooses the device, once per process, without
starting it. `PORTER_DEVICE` (auto, npu, cuda, xpu, mps or cpu) overrides the choice.
"""

from __future__ import annotations

import sys
from typing import List, Set

from ._names import MIRRORED as _MIRRORED
from ._names import OWN as _OWN
from ._names import REFUSED as _REFUSED

__version__ = "0.1.0"

# torch fills this tuple when the device starts: a bound copy would stay empty.
_UNBOUND = frozenset(["default_generators"])

_bound: Set[str] = set()


def __getattr__(name: str) -> object:
    """Look the names up at the first use of one and bind them here: later uses cost nothing extra.

    Raises:
        AttributeError: The name is none of the shim's; a name of torch.cuda's that is left out on
            purpose says why and what to do instead.
        RuntimeError: PORTER_DEVICE asks for a device that is not here.
    """
    if name not in _MIRRORED and name not in _OWN:
        if name in _REFUSED:
            raise AttributeError(f"{__name__} leaves out torch.cuda.{name}: {_REFUSED[name]}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _surface

    if not _bound:
        # All at once: torch.compile of torch 2.1 sees only what is bound. A second thread keeps
        # what the first one bound; an interned key is found faster.
        found = {sys.intern(key): value for key, value in _surface.find_all().items()}
        bound = found.keys() - _UNBOUND
        for key in bound:
            globals().setdefault(key, found[key])
        _bound.update(bound)
    if name in _bound:
        return globals()[name]
    return _surface.find(name)


def __dir__() -> List[str]:
    return sorted({*globals(), *_MIRRORED, *_OWN})


def _reset() -> None:
    """Forget the chosen device and all that was looked up: for tests that change the machine."""
    from . import _backend

    for name in _bound:
        globals().pop(name, None)
    _bound.clear()
    _backend.forget()
