"""Runs every benchmark and writes what they say to bench/RESULTS.md.

    python bench/results.py FOLDER [--runs 3]

FOLDER takes the projects from PyPI and, in an environment of its own, the pinned peers. ripgrep has
to be there (`apt install ripgrep`). The machine should have nothing else to do: some 15 minutes on
two cores.
"""

from __future__ import annotations

import argparse
import datetime
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

import measure
import side_by_side

sys.path[:0] = measure.SOURCES

import porter  # noqa: E402

HERE = Path(__file__).parent
RESULTS = HERE / "RESULTS.md"


def said(script: str, *arguments: str) -> str:
    """Run a benchmark and return what it prints."""
    print(f"{script} {' '.join(arguments)}", file=sys.stderr)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(measure.SOURCES)}
    environment["OMP_NUM_THREADS"] = "1"
    done = subprocess.run(
        [sys.executable, str(HERE / script), *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def environment(folder: Path, packages: Sequence[str]) -> Path:
    """Return the folder with the commands of a new environment that holds the packages."""
    if not folder.is_dir():
        venv.create(folder, with_pip=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q"]
        subprocess.run([*pip, "--upgrade", "pip"], check=True)
        subprocess.run([*pip, *packages], check=True)
    return folder / "bin"


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    folder = options.folder.resolve()
    peers = environment(folder / "peers", side_by_side.PEERS)
    installed = environment(folder / "porter", [str(measure.ROOT)])
    runs = f"--runs={options.runs}"
    ripgrep = subprocess.run(
        [shutil.which("rg") or "rg", "--version"], capture_output=True, text=True
    )
    versions = [ripgrep.stdout.partition("\n")[0], *side_by_side.PEERS]
    sections = {
        f"python bench/side_by_side.py FOLDER {runs} --peers BIN": said(
            "side_by_side.py", str(folder), runs, f"--peers={peers}"
        ),
        f"python bench/growth.py FOLDER {runs}": said("growth.py", str(folder), runs),
        "python bench/check_startup.py PORTER": _block(
            said("check_startup.py", str(installed / "porter"))
        ),
        "PYTHONPATH=runtime python bench/shim_overhead.py": _block(said("shim_overhead.py")),
        "python bench/verify_overhead.py": _block(said("verify_overhead.py")),
    }
    text = (
        "# Results of one run\n\n"
        f"`python bench/results.py FOLDER {runs}`, {datetime.date.today()}: "
        f"porter {porter.__version__}; {measure.machine()}. Only ratios within a run count.\n\n"
        f"Peers: {', '.join(versions)}. msfmktransplt comes with CANN alone, and is left out.\n"
    )
    for command, body in sections.items():
        text += f"\n## `{command}`\n\n{body}\n"
    RESULTS.write_text(text, encoding="utf-8")


def _block(text: str) -> str:
    return f"```\n{text}\n```"


if __name__ == "__main__":
    main()
