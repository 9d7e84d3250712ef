"""porter beside its peers, in one interleaved run; only the ratios count.

    python bench/side_by_side.py FOLDER [--runs 5] [--peers BIN]

Projects come from PyPI, into FOLDER. Figures are the least user+system CPU time over the runs, of
whole processes started cold, except for the engine's rows: there the hit files are parsed and
rewritten in one process, gc off on both sides. BIN is the folder with the peers' commands, pinned
in PEERS (`pip install` them); ripgrep comes from the system. A missing one is named.
"""

from __future__ import annotations

import argparse
import ast
import gc
import shutil
import sys
import time
import warnings
from pathlib import Path

import corpora
import measure

sys.path[:0] = measure.SOURCES

from porter.engine import may_have_sites  # noqa: E402
from porter.engine.fragment import Fragment, Outcome  # noqa: E402
from porter.engine.pipeline import Engine  # noqa: E402
from porter.model import Options  # noqa: E402

PEERS = (
    "ruff==0.17.6",
    "ast-grep-cli==0.51.1",
    "fixit==2.2.1",
    "flake8==7.5.0",
    "torchfix==0.7.0",
)
HOOK = str(Path(__file__).parent / "regex_hook.py")
TWO_PATTERNS = (
    "{id: cuda, language: Python, rule: {any: "
    "[{pattern: $X.cuda()}, {pattern: torch.cuda.$NAME($$$)}]}}"
)
FAST = {
    "ripgrep -l": ["rg", "-l", "cuda", "."],
    "regex line hook": [sys.executable, HOOK, "."],
    "ruff, one rule": ["ruff", "check", "--select=F401", "--no-cache", "--isolated", "."],
    "ast-grep, 2 patterns": ["ast-grep", "scan", "--inline-rules", TWO_PATTERNS, "."],
}
SLOW = {
    "fixit, 1 rule": ["fixit", "--rules", "fixit.rules.use_fstring", "lint", "."],
    "torchfix, 1 rule": ["torchfix", "--select=TOR001", "."],
}
LIMITS = {"ripgrep -l": 60, "ruff, one rule": 3}
"""How many times as much `porter rewrite --dry-run` may take on the large project."""

LEADS = {"fixit, 1 rule": 50, "torchfix, 1 rule": 100}
"""How many times as much a peer has to take as porter."""


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


def engine_ratio(files: list[bytes], runs: int) -> float:
    """Return how many times as long as `ast.parse` the engine takes over the same files."""
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
    return port / parse


def slowest_fragment(files: list[bytes]) -> float:
    """Return the CPU seconds of the slowest fragment."""
    slowest = 0.0
    engine = Engine(Options())
    inner = engine._rewrite

    def timed(fragment: Fragment, alias: str, vetoed: frozenset[str] = frozenset()) -> Outcome:
        nonlocal slowest
        start = time.process_time()
        outcome = inner(fragment, alias, vetoed)
        slowest = max(slowest, time.process_time() - start)
        return outcome

    engine._rewrite = timed
    for data in files:
        engine.rewrite(data)
    return slowest


def found_commands(commands: dict[str, list[str]], peers: Path) -> dict[str, list[str]]:
    """Return the commands of the tools that are there; the others are named."""
    found = {}
    for name, (tool, *arguments) in commands.items():
        path = shutil.which(tool, path=str(peers)) or shutil.which(tool)
        if path is None:
            print(f"{name} is left out: no {tool}", file=sys.stderr)
        else:
            found[name] = [path, *arguments]
    return found


def compare(folder: Path, runs: int, peers: Path, *, small: bool, large: bool) -> str:
    """Return the report on one project."""
    files = hit_files(folder)
    size = sum(map(len, files)) / 1e6
    rows = [
        ["engine / `ast.parse` of the hit files", f"{engine_ratio(files, runs):.2f}", "at most 4"],
        ["slowest fragment", f"{slowest_fragment(files) * 1e3:.0f} ms", "at most 50 ms"],
    ]
    commands = {
        "porter": measure.porter("rewrite", "--dry-run", "--jobs=1", "."),
        "python -c pass": [sys.executable, "-c", "pass"],
        **found_commands({**FAST, **(SLOW if small else {})}, peers),
    }
    best = measure.interleaved(commands, folder, runs)
    porter = best.pop("porter")
    for name, peer in best.items():
        limit = f"at most {LIMITS[name]}" if large and name in LIMITS else ""
        rows.append([f"`rewrite --dry-run` / {name}", f"{porter.cpu / peer.cpu:.2f}", limit])
        if name in LEADS:
            lead = f"at least {LEADS[name]}"
            rows.append([f"{name} / `rewrite --dry-run`", f"{peer.cpu / porter.cpu:.0f}", lead])
    memory = "under 300 MB" if large else ""
    rows.append(["peak memory of `rewrite --dry-run`", f"{porter.memory:.0f} MB", memory])
    head = f"### {folder.name}: {len(files)} files with a hit, {size:.1f} MB\n\n"
    return head + measure.table(["ratio of CPU time", "measured", "wanted"], rows)


def main() -> None:
    """Print a table for each project."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--peers", type=Path, default=Path(sys.executable).parent)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    gc.disable()
    for requirement in (corpora.LARGE, corpora.MIDDLE, corpora.SMALL):
        folder = corpora.fetch(requirement, options.folder.resolve())
        is_small, is_large = requirement == corpora.SMALL, requirement == corpora.LARGE
        print(compare(folder, options.runs, options.peers, small=is_small, large=is_large), "\n")


if __name__ == "__main__":
    main()
