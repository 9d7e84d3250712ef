"""The device that the shim chooses, why, and whether it works."""

from __future__ import annotations

from collections.abc import Mapping

from . import pairs, variables
from .entry import Section
from .probing import Said


def examine(said: Said, environment: Mapping[str, str], npus: int, gpus: int) -> Section:
    """Judge what the probe said of the shim's choice.

    Args:
        said: what the probe said.
        environment: the shell's.
        npus: how many chips the driver shows.
        gpus: how many GPUs.
    """
    section = Section("Device that ported code uses")
    forced = environment.get("PORTER_DEVICE", "")
    backend, count = said.fact("shim", "backend"), said.fact("shim", "count") or 0
    section.facts.update(backend=backend, count=count, forced=forced or None)
    for warning in said.fact("shim", "warnings") or []:
        if not said.error("torch_npu"):  # else it is said already
            section.problem("passed over", warning, "mend what is said above of it")
    error = said.error("shim")
    if error:
        section.problem("choice", error, "unset PORTER_DEVICE, or mend what is said above of it")
        return section
    if backend is None:
        section.note("choice", "unknown, since what is above can't be imported")
        return section
    section.ok("choice", _why(said, str(backend), count, forced))
    _compare(section, said, environment, npus, gpus)
    _judge_use(section, said, str(backend))
    return section


def _judge_use(section: Section, said: Said, backend: str) -> None:
    if said.error("use"):
        section.problem(
            "first use",
            f"adding numbers on {backend}:0 fails: {said.error('use')}",
            "see the driver above; a device that another process fills has no memory left",
        )
    elif said.fact("use", "sum") is not None:
        if said.fact("use", "sum") == 8:
            section.ok("first use", f"adds numbers on {backend}:0")
        else:
            section.problem(
                "first use",
                f"1 + 1, four times, makes {said.fact('use', 'sum')} on {backend}:0",
                "install CANN and torch_npu anew: these libraries don't compute",
            )
    if said.error("memory"):
        section.note("memory", said.error("memory"))
    for index, (free, total) in enumerate(said.fact("memory", "devices") or []):
        section.ok(f"{backend}:{index}", f"{free >> 20} of {total >> 20} MB free")


def _why(said: Said, backend: str, count: int, forced: str) -> str:
    npu, cuda = str(said.fact("torch_npu", "version") or ""), str(said.fact("torch", "cuda") or "")
    version = {"npu": npu, "cuda": cuda}.get(backend, "")
    shown = f"{backend} (emulated)" if "emulated" in version else backend
    if forced and forced != "auto":
        return f"{shown}, since PORTER_DEVICE={forced} says so"
    if backend != "cpu":
        return f"{shown}, since torch sees {count} of its devices"
    if said.error("torch_npu"):
        why = "torch_npu can't be imported"
    elif npu:
        why = "torch_npu sees no device"
    else:
        why = "torch_npu isn't installed"
    lacks = "sees no GPU" if cuda else "is built without CUDA"
    return f"cpu, since there is no accelerator: {why}, and torch {lacks}"


def _compare(
    section: Section, said: Said, environment: Mapping[str, str], npus: int, gpus: int
) -> None:
    """Say where torch sees fewer devices than their drivers show."""
    backend, seen = section.facts["backend"], section.facts["count"]
    if section.facts["forced"] or said.error("torch_npu"):
        return  # meant, or said already
    chips = variables.visible_npus(environment, npus)
    cards = 0 if environment.get("CUDA_VISIBLE_DEVICES", "0") in {"", "-1"} else gpus
    if chips and said.fact("torch_npu", "version") is None:
        section.problem(
            "NPUs",
            f"npu-smi shows {chips}, and torch_npu isn't installed",
            _install(str(said.fact("torch", "version"))),
        )
    elif chips and (seen if backend == "npu" else 0) < chips:
        section.problem(
            "NPUs",
            f"npu-smi shows {chips}, and torch_npu sees {seen if backend == 'npu' else 'none'}",
            "see CANN and the devices' health above, and whether this user may read /dev/davinci* "
            "(group HwHiAiUser)",
        )
    elif cards and backend == "cpu":
        section.problem(
            "GPUs",
            f"nvidia-smi shows {cards}, and torch sees none",
            "pip install a torch that is built for CUDA, and for none newer than the driver's",
        )


def _install(torch: str) -> str:
    newest = pairs.newest_npu(pairs.release(torch))
    if newest:
        return f"pip install torch_npu=={newest}"
    other, npu = pairs.newest_pair()
    return f"there is no torch_npu for torch {torch}: pip install torch=={other} torch_npu=={npu}"
