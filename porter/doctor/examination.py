"""Everything about this machine, in the order in which one thing rests on the other."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from . import cann, device, emulator, npu_smi, nvidia_smi, torch_packages, variables
from .entry import Section
from .probing import probe


def examine(environment: Mapping[str, str], timeout: float) -> list[Section]:
    """Look at the drivers, CANN, torch, the environment and the device that would be used.

    Args:
        environment: the shell's; programs that are asked get it too.
        timeout: seconds for each of them: npu-smi, nvidia-smi, CANN's libraries, torch.
    """
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(npu_smi.examine, timeout), pool.submit(nvidia_smi.examine, timeout)
        npus, gpus = (each.result() for each in asked)
    chips, cards = len(npus.facts["devices"]), len(gpus.facts["devices"])
    # A device has to be started to tell its memory: not where its driver has told already.
    said = probe(environment, timeout, memory=not (chips or cards))
    packages = torch_packages.examine(said)
    torch, torch_npu = (str(packages.facts[name] or "") for name in ("torch", "torch_npu"))
    return [
        _python(),
        npus,
        gpus,
        cann.examine(environment, "" if "emulated" in torch_npu else torch_npu, timeout),
        packages,
        variables.examine(environment, npu=bool(chips or torch_npu)),
        device.examine(said, environment, chips, cards),
        emulator.examine(torch),
    ]


def _python() -> Section:
    section = Section("Python")
    version = ".".join(map(str, sys.version_info[:3]))
    section.facts.update(version=version, executable=sys.executable)
    section.ok("python", f"{version}, {sys.executable}")
    return section
