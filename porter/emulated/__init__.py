"""The emulated Ascend NPU: devices of type ``npu`` that live on the CPU, for runs without a card.

A child process started with `emulated_env` finds the stand-in for torch_npu that lies in ``site/``
and autoloads it with torch. Nothing here imports torch.
"""

from __future__ import annotations

import os
from pathlib import Path

from .build import BuildError, library

__all__ = ["BuildError", "emulated_env", "library"]

_SITE = Path(__file__).parent / "site"


def emulated_env(devices: int = 1, strict: bool = False) -> dict[str, str]:
    """Returns the environment for a child process that is to see emulated NPUs.

    Builds the extension when this torch, Python and source haven't met yet, which takes a minute
    or two. The child must run the same Python with the same torch.

    Args:
        devices: how many NPUs the machine seems to have, 0 to 64. ASCEND_RT_VISIBLE_DEVICES of the
            present environment is kept and cuts them down, as on a real machine.
        strict: refuse what Ascend hardware refuses although the CPU could do it: float64
            arithmetic on more than one element, and FFTs of complex input.

    Returns:
        A copy of the present environment with what the emulated NPU needs, for ``subprocess``.

    Raises:
        BuildError: if torch, a C++ compiler or ninja is missing, or the build fails.
    """
    path = [str(_SITE), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path),
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "1",
        "EMULATED_NPU_LIBRARY": str(library()),
        "EMULATED_NPU_DEVICES": str(devices),
        "EMULATED_NPU_STRICT": "1" if strict else "0",
    }
