"""What `porter verify --backend npu-emulated` needs: torch 2.13 and what compiles its device."""

from __future__ import annotations

from porter.emulated import build

from . import pairs
from .entry import Section

_MADE_FOR = "2.13"


def examine(torch: str) -> Section:
    """Look at the tools that build the emulated devices.

    Args:
        torch: the installed version, "" without one.
    """
    section = Section("Emulated devices")
    try:
        build.check_tools()
    except build.BuildError as error:
        # Only whoever has no card needs them.
        section.note("tools", *str(error).split(": ", 1))
    else:
        section.ok("tools", "a C++ compiler, ninja and Python's headers")
    if torch and not pairs.release(torch).startswith(f"{_MADE_FOR}."):
        section.note(
            "torch",
            f"{torch}, and the emulated devices are made for {_MADE_FOR}",
            f"in an environment of its own: pip install 'torch=={_MADE_FOR}.*'",
        )
    return section
