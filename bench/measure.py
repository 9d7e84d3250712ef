"""CPU time and memory of whole processes, and what they ran on."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = [str(ROOT), str(ROOT / "rules"), str(ROOT / "runtime")]


@dataclass(frozen=True)
class Cost:
    """User and system CPU seconds, wall seconds, and peak memory in MB of the largest process."""

    cpu: float = float("inf")
    wall: float = float("inf")
    memory: float = float("inf")

    def least(self, other: Cost) -> Cost:
        """Return the lesser of each figure: what else the machine does only ever adds."""
        return Cost(
            min(self.cpu, other.cpu), min(self.wall, other.wall), min(self.memory, other.memory)
        )


def cost(command: Sequence[str], cwd: Path) -> Cost:
    """Run a command to its end, whatever it answers, and return what it took, children included."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(SOURCES)}
    wrapped = [sys.executable, "-c", _WRAPPER, *command]
    done = subprocess.run(wrapped, cwd=cwd, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(f"{command[0]} can't be run: {done.stderr[-500:]}")
    cpu, wall, memory = map(float, done.stdout.split())
    return Cost(cpu, wall, memory)


_WRAPPER = """
import os, resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
wall = time.perf_counter() - start
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024)
"""  # a process of its own: the memory of children is known as the largest of all there ever were


def interleaved(commands: Mapping[str, Sequence[str]], cwd: Path, runs: int) -> dict[str, Cost]:
    """Run the commands in turn, and return the least of what each took."""
    best = {name: Cost() for name in commands}
    for number in range(runs):
        for name, command in commands.items():
            print(f"{cwd.name}: run {number + 1} of {runs}, {name}", file=sys.stderr)
            best[name] = best[name].least(cost(command, cwd))
    return best


def porter(*arguments: str) -> list[str]:
    """Return the command that runs this checkout's porter."""
    return [sys.executable, "-m", "porter", *arguments]


def machine() -> str:
    """Return what the figures were measured on, in a line."""
    model = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines() if sys.platform == "linux" else ():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return (
        f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}"
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
