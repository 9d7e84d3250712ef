"""Emulated devices: Ascend NPUs and CUDA GPUs that live on the CPU, for runs without a card.

A child process started with `emulated_env` finds what lies in ``site/``: for the NPU a stand-in for
torch_npu, which torch loads by itself; for CUDA what a build of torch without CUDA lacks below
torch.cuda. Both are built from the same C++ sources. Nothing here imports torch.
"""

from __future__ import annotations

import os
from pathlib import Path

from .build import BuildError, library

__all__ = ["BACKENDS", "BuildError", "emulated_env", "library"]

BACKENDS = ("npu", "cuda")

_SITE = Path(__file__).parent / "site"


def emulated_env(
    backend: str, *, devices: int = 1, strict: bool = False, trace: Path | None = None
) -> dict[str, str]:
    """Returns the environment for a child process that is to see emulated devices.

    Builds the extension when this torch, Python and source haven't met yet, which takes a minute
    or two. The child must run the same Python with the same torch.

    Args:
        backend: "npu", or "cuda", which needs a torch that is built without CUDA.
        devices: how many devices the machine seems to have, 0 to 64. ASCEND_RT_VISIBLE_DEVICES or
            CUDA_VISIBLE_DEVICES of the present environment is kept and cuts them down, as on a
            real machine.
        strict: refuse what Ascend hardware refuses although the CPU could do it: float64
            arithmetic on more than one element, and FFTs of complex input.
        trace: a file to which the child, and its children, append a line for each thing that they
            ask of a device: operators, copies, streams, random states, collectives.

    Returns:
        A copy of the present environment with what the emulated device needs, for ``subprocess``.

    Raises:
        ValueError: if there is no such backend, or `strict` is asked of CUDA.
        BuildError: if torch, a C++ compiler or ninja is missing, or the build fails.
    """
    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, not {backend!r}")
    if strict and backend != "npu":
        raise ValueError("strict=True refuses what Ascend refuses: it goes with backend 'npu' only")
    inherited = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    path = [
        str(_SITE / backend),
        str(_SITE / "common"),
        *(entry for entry in inherited if _SITE not in Path(entry).parents),
    ]
    prefix = f"EMULATED_{backend.upper()}"
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path),
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "1",
        "EMULATED_LIBRARY": str(library(backend)),
        f"{prefix}_DEVICES": str(devices),
        f"{prefix}_STRICT": "1" if strict else "0",
    }
    if trace is not None:
        env["EMULATED_TRACE"] = str(trace.absolute())
    return env
