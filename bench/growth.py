"""How time and memory grow with a repository, and what a second worker brings.

    python bench/growth.py FOLDER [--runs 3]

The source of transformers comes from PyPI, into FOLDER. Its package is copied 1, 2, 4 and 8 times
into one tree, and `porter rewrite --dry-run` runs over each; then over four copies with one worker
and with two. Figures are the least of the interleaved runs.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

import corpora
import measure

COPIES = (1, 2, 4, 8)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    package = corpora.fetch(corpora.LARGE, options.folder.resolve()) / "src" / "transformers"
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        trees = {copies: top / f"{copies}x" for copies in COPIES}
        for copies, tree in trees.items():
            for number in range(copies):
                shutil.copytree(package, tree / f"copy_{number}")
        print(growth(trees, top, options.runs), "\n")
        print(workers(trees[4], options.runs))


def growth(trees: dict[int, Path], top: Path, runs: int) -> str:
    """Return the table of time and memory over the size of the repository."""
    commands = {
        str(copies): measure.porter("rewrite", "--dry-run", "--jobs=1", str(tree))
        for copies, tree in trees.items()
    }
    best = measure.interleaved(commands, top, runs)
    first = best["1"]
    rows = []
    for copies, used in zip(trees, best.values(), strict=True):
        rows.append(
            [
                f"{copies}x",
                f"{used.cpu:.2f} s",
                f"{used.cpu / first.cpu / copies:.2f}",
                f"{used.memory:.0f} MB",
            ]
        )
    head = ["files", "CPU", "per file, of 1x", "peak memory"]
    return measure.table(head, rows)


def workers(tree: Path, runs: int) -> str:
    """Return the table of wall time over the number of workers."""
    commands = {
        str(jobs): measure.porter("rewrite", "--dry-run", f"--jobs={jobs}", str(tree))
        for jobs in (1, 2)
    }
    best = measure.interleaved(commands, tree, runs)
    rows = [
        [jobs, f"{used.wall:.2f} s", f"{best['1'].wall / used.wall:.2f}", f"{used.cpu:.2f} s"]
        for jobs, used in best.items()
    ]
    return measure.table(["workers", "wall", "times as fast (1.5 wanted)", "CPU"], rows)


if __name__ == "__main__":
    main()
