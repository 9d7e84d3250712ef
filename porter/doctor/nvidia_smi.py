"""`nvidia-smi`: the GPUs as their driver sees them."""

from __future__ import annotations

import shutil
from pathlib import Path

from .asking import ask
from .entry import Section

_FIELDS = ("index", "name", "driver_version", "memory.free", "memory.total")
_PROC = Path("proc/driver/nvidia/version")


def examine(timeout: float, root: Path = Path("/")) -> Section:
    """Look at the driver and its devices.

    Args:
        timeout: seconds for nvidia-smi to answer.
        root: the folder that paths of the driver are below.
    """
    section = Section("NVIDIA driver", facts={"driver": None, "devices": []})
    program = shutil.which("nvidia-smi")
    if program is None:
        if (root / _PROC).exists():
            section.problem(
                "nvidia-smi",
                "isn't there, though the driver is loaded",
                "install the driver's utilities; in a container: docker run --gpus all, with the "
                "NVIDIA container toolkit on the host",
            )
        else:
            section.absent("devices", "no nvidia-smi")
        return section
    query = f"--query-gpu={','.join(_FIELDS)}"
    answer = ask([program, query, "--format=csv,noheader,nounits"], timeout)
    rows = [[cell.strip() for cell in line.split(",")] for line in answer.out.splitlines()]
    rows = [row for row in rows if len(row) == len(_FIELDS)]
    if answer.failure or not rows:
        said = answer.last_words
        section.problem(
            "nvidia-smi",
            f"{answer.failure or 'names no device'}" + (f": {said}" if said else ""),
            "see `dmesg`: after an update of the driver its module has to be loaded anew, mostly "
            "by a restart",
        )
        return section
    section.facts["driver"] = rows[0][2]
    section.ok("driver", f"{rows[0][2]}, {program}")
    for index, name, _, free, total in rows:
        section.facts["devices"].append(
            {"index": index, "name": name, "free": free, "total": total}
        )
        section.ok(f"GPU {index}", f"{name}, {free} of {total} MB free")
    return section
