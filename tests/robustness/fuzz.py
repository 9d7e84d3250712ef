"""Feeds mutated sources to the engine, and shows each kind of fault once.

Usage, from the repository's folder::

    python tests/robustness/fuzz.py --runs 100000 --seed 1 [FOLDER...]
    python tests/robustness/fuzz.py --runs 100000 --atheris [FOLDER...]

The sources are the rules' examples, the fixtures and the Python files below each FOLDER. Without
--atheris mutations are random and know Python (`mutation.py`); with it, libFuzzer mutates bytes and
is led by what they reach in porter. It ends with 1 where it found a fault.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / p) for p in (".", "rules", "runtime")]


class Tally:
    """What was fed so far, and the smallest input of each kind of fault."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.faults: dict[str, bytes] = {}

    def feed(self, data: bytes) -> None:
        """Give one input to the engine, and keep what it does wrong."""
        from tests.robustness.oracle import compiles, faults

        self.counts["inputs"] += 1
        self.counts["programs"] += compiles(data, only_parse=True)
        for fault in faults(data):
            kind = re.sub(r"line \d+|b'.*'|b\".*\"", "...", fault)
            self.counts["faults"] += 1
            if len(data) < len(self.faults.get(kind, data + b" ")):
                self.faults[kind] = data

    def report(self) -> int:
        """Print the figures and the faults; return the exit code."""
        for kind, data in self.faults.items():
            print(f"\nFAULT: {kind}\n{data!r}")
        print(", ".join(f"{count} {name}" for name, count in sorted(self.counts.items())))
        return 1 if self.faults else 0


def run_random(sources: list[bytes], runs: int, seed: int) -> int:
    """Feed `runs` mutated sources."""
    from porter.engine import rewrite_source
    from tests.robustness.mutation import Mutator

    tally = Tally()
    mutator = Mutator(sources, seed)
    began = time.monotonic()
    for _ in range(runs):
        data = mutator.next()
        tally.feed(data)
        if tally.counts["inputs"] % 10 == 0:
            tally.counts["changed, of every tenth"] += rewrite_source(data).output != data
    print(f"seed {seed}, {len(sources)} sources, {time.monotonic() - began:.0f} s")
    return tally.report()


def run_atheris(sources: list[bytes], runs: int, seed: int) -> int:
    """Feed what libFuzzer makes of the sources, led by the coverage of porter."""
    import atheris  # type: ignore[import-untyped]

    with atheris.instrument_imports(include=["porter", "porter_rules"]):
        from porter.engine import rewrite_source

        rewrite_source(b"x.cuda()")  # so that all of it is imported here

    tally = Tally()

    def feed(data: bytes) -> None:
        tally.feed(data)
        if tally.counts["inputs"] >= runs:
            # libFuzzer never returns; its own -runs counts the inputs of its start too.
            code = tally.report()
            sys.stdout.flush()
            _exit(code)

    with tempfile.TemporaryDirectory() as folder:
        for number, source in enumerate(sources):
            (Path(folder) / f"{number:05}").write_bytes(source)
        options = [f"-seed={seed}", "-max_len=4000", "-verbosity=0", "-rss_limit_mb=4096"]
        atheris.Setup([sys.argv[0], *options, folder], feed)
        atheris.Fuzz()
    return tally.report()


def _exit(code: int) -> None:
    import os

    os._exit(code)


def main(arguments: list[str]) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=10_000, help="inputs to feed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--atheris", action="store_true", help="let libFuzzer mutate")
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    options = parser.parse_args(arguments)
    if options.atheris:  # instruments porter, so nothing of it may be imported before
        sources = sorted({path.read_bytes() for path in _files(options.folders)}, key=len)[:2000]
        return run_atheris(sources, options.runs, options.seed)
    from tests.robustness.seeds import FIXTURES, examples, pieces

    sources = examples() + pieces([FIXTURES, *options.folders])
    return run_random(sources, options.runs, options.seed)


def _files(folders: list[Path]) -> list[Path]:
    fixtures = Path(__file__).resolve().parents[2] / "fixtures"
    return [
        path for folder in (fixtures, *folders) for path in folder.rglob("*.py") if path.is_file()
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
