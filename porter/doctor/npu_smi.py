"""`npu-smi info`: the NPUs as their driver sees them, with health and memory."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .asking import ask
from .entry import Section

_VERSION_FILE = "usr/local/Ascend/driver/version.info"
_PROGRAMS = ("usr/local/bin/npu-smi", "usr/local/sbin/npu-smi")
"""Where the driver puts it, which is not on everybody's PATH."""

_ALMOST_FULL = 0.1

_OCCUPIED = "-8020"
"""DCMI's code for a device that another container holds; npu-smi prints it."""


@dataclass(frozen=True)
class Npu:
    """One chip. Memory in MB, as npu-smi counts it; None where it isn't told."""

    npu: int
    chip: int
    name: str
    health: str
    used: int | None
    total: int | None


def parse(text: str) -> tuple[str, list[Npu]]:
    """Return npu-smi's version ("" if it isn't told) and the chips, in its order.

    Each chip takes two rows of the first table; between versions and products their first columns
    differ: "NPU Name" over "Chip", "Chip Phy-ID" or "Chip Device", or (950) "NPU ID" and "Name" in
    columns of their own over none. Memory stands last in the second row: "used / total", where
    there is HBM behind a pair for other memory, which is then "0 / 0" or the host's.
    """
    version = re.search(r"npu-smi\s+(\S+)\s+Version", text)
    rows = list(_rows(text))
    chips = []
    seen: dict[int, int] = {}
    for first, second in zip(rows[::2], rows[1::2], strict=False):
        name = " ".join(first[:-2]).split()
        if len(name) < 2 or not name[0].isdigit():
            continue
        npu = int(name[0])
        below = " ".join(second[:-2]).split()
        chip = int(below[0]) if below and below[0].isdigit() else seen.get(npu, 0)
        seen[npu] = seen.get(npu, 0) + 1
        pairs = re.findall(r"(\d+)\s*/\s*(\d+)", second[-1])
        used, total = map(int, pairs[-1]) if pairs and int(pairs[-1][1]) else (None, None)
        chips.append(Npu(npu, chip, " ".join(name[1:]), first[-2], used, total))
    return version[1] if version else "", chips


def _rows(text: str) -> Iterator[list[str]]:
    """Yield the cells of the rows of the first table, less its head."""
    for line in text.splitlines():
        line = line.strip()
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or len(cells) < 3:
            continue
        if "Process" in cells[1]:
            return
        if "Health" not in cells and "Bus-Id" not in cells:
            yield cells


def examine(timeout: float, root: Path = Path("/")) -> Section:
    """Look at the driver and its devices.

    Args:
        timeout: seconds for npu-smi to answer.
        root: the folder that paths of the driver are below.
    """
    section = Section("NPU driver", facts={"driver": None, "devices": []})
    driver = _driver_version(root)
    if driver:
        section.facts["driver"] = driver
        section.ok("driver", driver)
    nodes = sorted(node.name for node in (root / "dev").glob("davinci[0-9]*"))
    programs = (shutil.which("npu-smi"), *(shutil.which(root / each) for each in _PROGRAMS))
    program = next(filter(None, programs), None)
    if program is None:
        _say_missing(section, nodes, driver)
        return section
    answer = ask([program, "info"], timeout)
    version, chips = parse(answer.out)
    if answer.failure or not chips:
        said = answer.last_words
        section.problem(
            "npu-smi",
            f"{program} info {answer.failure or 'names no device'}" + (f": {said}" if said else ""),
            _mend(answer.out + answer.err, nodes),
        )
        return section
    section.ok("npu-smi", f"{version or 'of unknown version'}, {program}")
    section.facts["devices"] = [vars(chip) for chip in chips]
    for chip in chips:
        _judge(section, chip)
    return section


def _driver_version(root: Path) -> str:
    try:
        text = (root / _VERSION_FILE).read_text("utf-8", "replace")
    except OSError:
        return ""
    found = re.search(r"^Version=(\S+)", text, re.M)
    return found[1] if found else "of unknown version"


def _say_missing(section: Section, nodes: list[str], driver: str) -> None:
    if nodes:
        section.problem(
            "npu-smi",
            f"isn't there, though /dev has {', '.join(nodes)}",
            "in a container: mount /usr/local/bin/npu-smi and /usr/local/dcmi of the host; else "
            "install the driver anew",
        )
    elif driver:
        section.problem(
            "devices",
            "the driver's files are here, but no /dev/davinci*",
            "in a container: pass the devices in (docker run --device /dev/davinci0 --device "
            "/dev/davinci_manager --device /dev/devmm_svm --device /dev/hisi_hdc); else look with "
            "lspci whether a card is there",
        )
    else:
        section.absent("devices", "no npu-smi, no /dev/davinci*")


def _mend(text: str, nodes: list[str]) -> str:
    if _OCCUPIED in text:
        return (
            "another container holds the same NPUs: stop it, or give each container NPUs of its own"
        )
    if not nodes:
        return "pass /dev/davinci* into this container, or see on the host why there are none"
    return "see `dmesg` and the driver's installation log; the driver may need a restart"


def _judge(section: Section, chip: Npu) -> None:
    name = f"NPU {chip.npu}" + (f" chip {chip.chip}" if chip.chip else "")
    shown = chip.name
    if chip.used is not None and chip.total:
        free = chip.total - chip.used
        shown += f", {free} of {chip.total} MB free"
        if chip.health == "OK" and free < _ALMOST_FULL * chip.total:
            section.note(name, shown, "`npu-smi info` names the processes that hold its memory")
            return
    if chip.health == "OK":
        section.ok(name, shown)
    else:
        section.problem(
            name,
            f"{shown}, health {chip.health}",
            f"`npu-smi info -t health -i {chip.npu}` names the fault; until it is mended leave the "
            "device out with ASCEND_RT_VISIBLE_DEVICES",
        )
