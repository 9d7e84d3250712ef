"""What a check costs of a file with nothing to find, and of one with sites.

    python bench/check_startup.py PORTER [--runs 30]

PORTER is the installed command, as a hook runs it. Figures are the least user+system CPU time over
interleaved runs, as multiples of `python -c pass` in the same run: at most 1.5 and 25 are wanted.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

QUIET = "import torch\nfrom torch import nn\n\n\ndef f(x):\n    return x + 1\n\n\n" * 300
PADDING = "def f(x):\n    return x + 1\n\n\n" * 16
SITES = (
    "import torch\n\n\n" + (PADDING + "x = y.cuda()\nd = torch.zeros(1, device='cuda')\n\n") * 40
)


def child_cpu(command: list[str], cwd: Path) -> float:
    """Run a command and return the CPU seconds that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=cwd, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser()
    parser.add_argument("porter", type=Path)
    parser.add_argument("--runs", type=int, default=30)
    options = parser.parse_args()
    porter = str(options.porter.absolute())
    interpreter = Path(porter).read_text("utf-8").partition("\n")[0].removeprefix("#!").strip()
    python = interpreter if os.access(interpreter, os.X_OK) else sys.executable
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "quiet.py").write_text(QUIET, "utf-8")
        (folder / "sites.py").write_text(SITES[:20_000], "utf-8")
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
        subprocess.run(["git", "add", "quiet.py"], cwd=folder, check=True)
        commands = {
            "python -c pass": [python, "-c", "pass"],
            "check, no hit": [porter, "check", "quiet.py"],
            "check, 20 KB with sites": [porter, "check", "--all", "sites.py"],
        }
        best = dict.fromkeys(commands, float("inf"))
        for _ in range(options.runs):
            for label, command in commands.items():
                best[label] = min(best[label], child_cpu(command, folder))
    for label, seconds in best.items():
        print(f"{label:25} {seconds * 1000:7.1f} ms {seconds / best['python -c pass']:6.2f}")


if __name__ == "__main__":
    main()
