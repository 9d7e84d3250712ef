"""porter beside its peers, in one interleaved run; only the ratios count.

    python bench/side_by_side.py FOLDER... [--runs 5]

Each FOLDER is a project, unpacked (the corpora come from PyPI: `pip download --no-deps`). Figures
are the least user+system CPU time over the runs, of whole processes started cold, except for the
engine row: there the hit files are parsed and rewritten in one process, gc off on both sides.
Needs ruff (`pip install ruff`) and ripgrep (`apt install ripgrep`); a missing tool is named.
"""

from __future__ import annotations

import argparse
import ast
import gc
import os
import resource
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "rules"), str(ROOT / "runtime")]

from porter.engine import may_have_sites  # noqa: E402
from porter.engine.fragment import Fragment, Outcome  # noqa: E402
from porter.engine.pipeline import Engine  # noqa: E402
from porter.model import Options  # noqa: E402


def child_cpu(command: Sequence[str], cwd: Path) -> float:
    """Run a command and return the CPU seconds that it and its children took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    paths = os.pathsep.join([str(ROOT), str(ROOT / "rules"), str(ROOT / "runtime")])
    environment = {**os.environ, "PYTHONPATH": paths}
    subprocess.run(command, cwd=cwd, env=environment, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def interleaved(commands: dict[str, list[str]], cwd: Path, runs: int) -> dict[str, float]:
    """Run the commands in turn and return the least CPU seconds of each."""
    best = dict.fromkeys(commands, float("inf"))
    for _ in range(runs):
        for name, command in commands.items():
            best[name] = min(best[name], child_cpu(command, cwd))
    return best


def hit_files(folder: Path) -> list[bytes]:
    """Return the contents of the Python files that the prefilter lets through and that parse."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        data = path.read_bytes()
        if may_have_sites(data):
            try:
                ast.parse(data)
            except (SyntaxError, ValueError):
                continue
            found.append(data)
    return found


def engine_ratio(files: list[bytes], runs: int) -> tuple[float, float]:
    """Return the CPU seconds of `ast.parse` and of the engine over the same files."""
    parse = port = float("inf")
    for _ in range(runs):
        start = time.process_time()
        for data in files:
            ast.parse(data)
        parse = min(parse, time.process_time() - start)
        gc.collect()
        engine = Engine(Options())  # a new memory each time: every run starts cold
        start = time.process_time()
        for data in files:
            engine.rewrite(data)
        port = min(port, time.process_time() - start)
        gc.collect()
    return parse, port


def slowest_fragment(files: list[bytes]) -> tuple[float, int]:
    """Return the CPU seconds of the slowest fragment, and its size in bytes."""
    slowest = (0.0, 0)
    engine = Engine(Options())
    inner = engine._rewrite

    def timed(fragment: Fragment, alias: str, vetoed: frozenset[str] = frozenset()) -> Outcome:
        nonlocal slowest
        start = time.process_time()
        outcome = inner(fragment, alias, vetoed)
        taken = time.process_time() - start
        slowest = max(slowest, (taken, len(fragment.text)))
        return outcome

    engine._rewrite = timed
    for data in files:
        engine.rewrite(data)
    return slowest


def main() -> int:
    """Print a table for each folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    gc.disable()
    for folder in options.folders:
        report(folder.resolve(), options.runs)
    return 0


def report(folder: Path, runs: int) -> None:
    """Print the figures of one project."""
    files = hit_files(folder)
    size = sum(map(len, files)) / 1e6
    print(f"\n{folder.name}: {len(files)} hit files, {size:.1f} MB")
    parse, port = engine_ratio(files, runs)
    print(f"  engine / ast.parse of the hit files   {port / parse:6.2f}   (at most 4)")
    taken, length = slowest_fragment(files)
    print(
        f"  slowest fragment                      {taken * 1e3:4.0f} ms of {length} bytes (50 ms)"
    )
    commands = {
        "porter": [sys.executable, "-m", "porter", "rewrite", "--dry-run", "--jobs", "1", "."],
        "python -c pass": [sys.executable, "-c", "pass"],
    }
    for name, command in {
        "rg -l": ["rg", "-l", "cuda"],
        "ruff, one rule": ["ruff", "check", "--select", "F401", "--no-cache", "--isolated", "."],
    }.items():
        tool = shutil.which(command[0], path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
        if tool is None:
            print(f"  {name}: not installed")
        else:
            commands[name] = [tool, *command[1:]]
    best = interleaved(commands, folder, runs)
    for name, limit in (("rg -l", 60), ("ruff, one rule", 3)):
        if name in best:
            ratio = best["porter"] / best[name]
            print(f"  rewrite --dry-run / {name:<18}{ratio:6.2f}   (at most {limit})")
    print(f"  rewrite --dry-run / python -c pass    {best['porter'] / best['python -c pass']:6.1f}")


if __name__ == "__main__":
    sys.exit(main())
