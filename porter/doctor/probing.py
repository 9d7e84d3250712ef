"""Running the probe, and reading what it says."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .asking import Answer, ask

_PROBE = Path(__file__).with_name("probe.py")
_AUTOLOAD = "TORCH_DEVICE_BACKEND_AUTOLOAD"


@dataclass
class Said:
    """What the probe learned: the facts of each step that it finished, and how it ended.

    `dying` is the step in which the process ended, "" where it came to its end.
    """

    facts: dict[str, dict[str, Any]] = field(default_factory=dict)
    dying: str = ""
    answer: Answer = field(default_factory=Answer)

    def error(self, step: str) -> str:
        """Return how a step failed, "" where it didn't."""
        if self.dying == step:
            return f"the process {self.answer.failure}" + (
                f": {self.answer.last_words}" if self.answer.last_words else ""
            )
        return str(self.facts.get(step, {}).get("error", ""))

    def fact(self, step: str, name: str) -> Any:
        """Return a fact of a step, None where it isn't known."""
        return self.facts.get(step, {}).get(name)


def installed(distribution: str) -> str:
    """Return the version of an installed distribution without importing it, "" without one."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""


def probe(environment: Mapping[str, str], timeout: float, *, memory: bool) -> Said:
    """Ask torch, torch_npu and the shim in a process of their own.

    Args:
        environment: the shell's.
        timeout: seconds for all of it.
        memory: whether to start every device to see how much of its memory is free.
    """
    said = _probe(environment, timeout, memory=memory)
    if said.error("torch") and environment.get(_AUTOLOAD) != "0" and installed("torch_npu"):
        # torch imports torch_npu by itself: which of the two is it that fails?
        alone = _probe({**environment, _AUTOLOAD: "0"}, timeout, memory=memory)
        return said if alone.error("torch") else alone
    return said


def _probe(environment: Mapping[str, str], timeout: float, *, memory: bool) -> Said:
    shim = importlib.util.find_spec("porter_runtime")
    assert shim is not None
    assert shim.origin is not None
    command = [sys.executable, str(_PROBE), str(Path(shim.origin).parents[1])]
    return _read(ask([*command, *(["--memory"] if memory else [])], timeout, environment))


def _read(answer: Answer) -> Said:
    said = Said(answer=answer)
    for line in answer.out.splitlines():
        if not line.startswith('{"step"'):
            continue  # printed by what Python runs before the probe, such as a sitecustomize
        facts = json.loads(line)
        step = facts.pop("step")
        said.dying = "" if facts else step
        if facts:
            said.facts[step] = facts
    if not said.facts and not said.dying:
        said.dying = "torch"
    return said
