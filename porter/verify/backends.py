"""The backends that a command can be run on: which are here, and what a child process needs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from porter.emulated import BuildError, emulated_env

BACKENDS = ("cpu", "cuda", "npu", "cuda-emulated", "npu-emulated")

_VISIBLE = {"cuda": "CUDA_VISIBLE_DEVICES", "npu": "ASCEND_RT_VISIBLE_DEVICES"}
_PATIENCE = 180.0

_PROBE = """
import json, sys
seen = {"counts": {}, "names": {}, "why": {}}
try:
    import torch
    seen["torch"] = str(torch.__version__)
except Exception as error:
    seen["why"] = {"cuda": repr(error), "npu": repr(error)}
else:
    try:
        import torch_npu
        seen["torch_npu"] = str(torch_npu.__version__)
    except Exception as error:
        seen["why"]["npu"] = "import torch_npu: %r" % (error,)
    for kind in ("cuda", "npu"):
        module = getattr(torch, kind, None)
        try:
            count = module.device_count() if module is not None and module.is_available() else 0
            seen["counts"][kind] = count
            if count:
                seen["names"][kind] = module.get_device_name(0)
        except Exception as error:
            seen["why"][kind] = repr(error)
print("\\n" + json.dumps(seen))
"""


class Unavailable(Exception):
    """A backend isn't on this machine; the text says what is missing, and what to do."""


@dataclass(frozen=True)
class Machine:
    """The accelerators that the command's Python sees.

    Attributes:
        counts: how many devices of "cuda" and "npu" there are.
        names: the names of the first ones.
        why: what failed where it was asked for one.
    """

    counts: dict[str, int] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)

    def accelerators(self) -> list[str]:
        """Return the kinds of real accelerators that are here."""
        return [kind for kind in ("npu", "cuda") if self.counts.get(kind)]


def look(python: str) -> Machine:
    """Ask the torch of a Python which accelerators it sees, in a process of its own."""
    try:
        done = subprocess.run(
            [python, "-c", _PROBE], capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
        seen = json.loads(done.stdout.splitlines()[-1])
    except (OSError, ValueError, IndexError, subprocess.TimeoutExpired) as error:
        return Machine(why=dict.fromkeys(("cuda", "npu"), f"{python} could not be asked: {error}"))
    return Machine(seen["counts"], seen["names"], seen["why"])


def interpreter(command: Sequence[str]) -> str:
    """Return the Python that a command runs, as far as its first word tells; else porter's own."""
    found = shutil.which(command[0])
    if found is None:
        return sys.executable
    if Path(found).name.startswith("python"):
        return found
    with Path(found).open("rb") as script:
        start = script.readline().decode(errors="replace").strip()
    program = start.removeprefix("#!").split(" ")[0]
    return program if Path(program).name.startswith("python") else sys.executable


def environment(backend: str, devices: int, machine: Machine | None) -> dict[str, str]:
    """Return the environment in which a command sees one kind of device and no other.

    Args:
        backend: one of `BACKENDS`.
        devices: how many devices an emulated machine has.
        machine: what was seen here; needed for "cuda" and "npu" alone.

    Raises:
        Unavailable: the backend isn't here, or the emulated one can't be built.
    """
    kind, _, emulated = backend.partition("-")
    env = dict(os.environ)
    if emulated:
        try:
            # As strict as the hardware: what Ascend refuses is refused.
            env = emulated_env(kind, devices=devices, strict=kind == "npu")
        except BuildError as error:
            raise Unavailable(str(error)) from error
    elif kind != "cpu" and not (machine and machine.counts.get(kind)):
        raise Unavailable(_why(kind, machine))
    env.pop("PORTER_DEVICE", None)
    for other, variable in _VISIBLE.items():
        if other != kind:
            env[variable] = ""
    return env


def _why(kind: str, machine: Machine | None) -> str:
    reason = machine.why.get(kind) if machine else None
    said = f": {reason}" if reason else ""
    return (
        f"torch sees no {kind} device on this machine{said}. `porter doctor` looks for the reason; "
        f"--backend {kind}-emulated tries the port without one"
    )
