"""The environment variables that NPUs, their collectives and porter's shim obey.

What HCCL's variables take is from CANN's documentation (gitcode.com/cann/hccl, docs, hccl_env), and
of ASCEND_LAUNCH_BLOCKING from torch_npu's (docs/en/api/environment_variable).
"""

from __future__ import annotations

import ipaddress
import itertools
import re
import socket
from collections.abc import Mapping
from pathlib import Path

from .entry import Section

VISIBLE = "ASCEND_RT_VISIBLE_DEVICES"
_RANGES = {"HCCL_CONNECT_TIMEOUT": (120, 7200)}
"""Whole numbers, seconds, and the least and the most that is taken."""


def examine(environment: Mapping[str, str], *, npu: bool) -> Section:
    """Look at the variables.

    Args:
        environment: the shell's.
        npu: whether the machine has an NPU, or torch_npu.
    """
    section = Section("Environment")
    names = sorted(
        name
        for name in environment
        if name.startswith(("HCCL_", "TORCH_HCCL_"))
        or name in {VISIBLE, "ASCEND_LAUNCH_BLOCKING", "CUDA_VISIBLE_DEVICES", "PORTER_DEVICE"}
        or name in {"RANK_TABLE_FILE", "TORCH_DEVICE_BACKEND_AUTOLOAD"}
    )
    section.facts["variables"] = {name: environment[name] for name in names}
    for name in names:
        _judge(section, name, environment[name], environment, npu=npu)
    if not names:
        section.absent("variables", "none of those that choose devices or steer HCCL is set")
    return section


def visible_npus(environment: Mapping[str, str], present: int) -> int:
    """Return how many of the NPUs that are present the environment leaves to be seen."""
    if VISIBLE not in environment:
        return present
    value = environment[VISIBLE]
    return 0 if not value or _wrong_ids(value) else min(present, value.count(",") + 1)


def _judge(
    section: Section, name: str, value: str, environment: Mapping[str, str], *, npu: bool
) -> None:
    shown = value or "(empty)"
    wrong = _wrong(name, value, environment)
    if wrong:
        section.problem(name, f"{shown}: {wrong[0]}", wrong[1])
    elif name == "CUDA_VISIBLE_DEVICES" and npu and VISIBLE not in environment:
        section.note(name, f"{shown}: NPUs don't obey it", f"for NPUs set {VISIBLE}")
    elif name == "CUDA_VISIBLE_DEVICES" and value in {"", "-1"}:
        section.note(name, f"{shown} hides every GPU", "unset it to see them")
    elif name == VISIBLE and not value:
        section.note(name, "(empty) hides every NPU", "unset it to see them")
    elif name == "ASCEND_LAUNCH_BLOCKING" and value == "1":
        section.note(
            name, "1: operators run one after the other, which is slow", "unset it to train"
        )
    elif name == "TORCH_DEVICE_BACKEND_AUTOLOAD" and value == "0":
        section.note(name, "0: `import torch` doesn't bring torch.npu; the shim imports torch_npu")
    else:
        section.ok(name, shown)


def _wrong(name: str, value: str, environment: Mapping[str, str]) -> tuple[str, str] | None:
    """Return what is wrong with a value, and the mend."""
    if name == VISIBLE and value:
        return _wrong_ids(value)
    if name == "HCCL_IF_IP":
        return _wrong_address(value)
    if name == "HCCL_SOCKET_IFNAME":
        return _wrong_interfaces(value)
    if name in {"RANK_TABLE_FILE", "HCCL_WHITELIST_FILE"} and value and not Path(value).is_file():
        return "there is no such file", "write its absolute path, or unset the variable"
    if (
        name == "HCCL_WHITELIST_DISABLE"
        and value == "0"
        and "HCCL_WHITELIST_FILE" not in environment
    ):
        return "the list of hosts is on, and HCCL_WHITELIST_FILE isn't set", f"unset {name}"
    if name in _RANGES:
        least, most = _RANGES[name]
        if not value.isdigit() or not least <= int(value) <= most:
            return f"it takes whole seconds from {least} to {most}", f"unset it, or set {least}"
    return None


def _wrong_ids(value: str) -> tuple[str, str] | None:
    if not re.fullmatch(r"\d+(,\d+)*", value):
        return "it takes numbers with commas between, and no blanks", f"export {VISIBLE}=0,1"
    ids = [int(each) for each in value.split(",")]
    if any(a >= b for a, b in itertools.pairwise(ids)):
        mend = ",".join(map(str, sorted(set(ids))))
        return "the numbers have to ascend, or no device is seen", f"export {VISIBLE}={mend}"
    return None


def _wrong_address(value: str) -> tuple[str, str] | None:
    try:
        ipaddress.ip_address(value)
    except ValueError:
        return "this is no IP address", "set the address by which the other hosts reach this one"
    return None


def _wrong_interfaces(value: str) -> tuple[str, str] | None:
    """Judge `eth,enp` (prefixes) and `=eth0` (names); a leading `^` says which not to take."""
    if value.startswith("^"):
        return None
    here = [name for _, name in socket.if_nameindex()]
    wanted = value.removeprefix("=").split(",")
    exact = value.startswith("=")
    if any(name == each if exact else name.startswith(each) for name in here for each in wanted):
        return None
    return "no interface here is called so", f"this host has {', '.join(here)}"
