"""What the watching of `porter verify` costs of a training step.

    python bench/verify_overhead.py [--backend cpu] [--runs 5] [--iterations 150]

Trains fixtures/char_gpt by turns with and without being watched, and compares the times that the
script itself prints for each step after the first ten. Other work on the machine only ever adds to
a time: so the tenth percentiles of all steps of all runs are compared. A ratio of at most 1.05 is
wanted.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from porter.verify.backends import BACKENDS, environment
from porter.verify.outcome import Run
from porter.verify.runner import Plan, execute

ROOT = Path(__file__).resolve().parents[1]
GPT = ROOT / "fixtures" / "char_gpt" / "expected"
WARM_UP = 10


def step_times(output: str) -> list[float]:
    """Return the times of the steps in milliseconds, as the script prints them."""
    return [float(text) for text in re.findall(r"time ([\d.]+)ms", output)][WARM_UP:]


def plain(command: list[str], env: dict[str, str]) -> list[float]:
    done = subprocess.run(command, cwd=GPT, env=env, capture_output=True, text=True, check=True)
    return step_times(done.stdout)


def watched(command: list[str], env: dict[str, str], backend: str) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        shell = ["sh", "-c", f'exec "$@" > {log}', "sh", *command]
        run = Run(backend, "port", str(GPT))
        execute(Plan(shell, GPT, GPT, env, trap=True), run, lambda *seen: None)
        assert run.status == "trained", run.tail
        return step_times(log.read_text())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", choices=BACKENDS, default="cpu")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=150)
    options = parser.parse_args()
    env = environment(options.backend, 1, None)
    path = [str(ROOT / "runtime"), *filter(None, [env.get("PYTHONPATH")])]
    env |= {"PYTHONPATH": os.pathsep.join(path), "OMP_NUM_THREADS": "1"}
    env |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}
    without: list[float] = []
    with_it: list[float] = []
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "train.py", f"--out_dir={out}", "--dtype=float32"]
        command += [f"--max_iters={options.iterations}", "--eval_interval=10000"]
        for number in range(options.runs):
            without += plain(command, env)
            with_it += watched(command, env, options.backend)
            print(f"{number + 1} of {options.runs} pairs of runs", file=sys.stderr)
    least, least_watched = (statistics.quantiles(times, n=10)[0] for times in (without, with_it))
    print(
        f"{least:.2f} ms plain, {least_watched:.2f} ms watched: ratio {least_watched / least:.3f}"
    )


if __name__ == "__main__":
    main()
