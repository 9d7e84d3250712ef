"""Port Accelerate, and run it in every way that the tests know, from an empty environment.

Usage: ``python tests/ports/accelerate/run.py FOLDER``. A virtual environment is made in FOLDER,
with what the tests need from PyPI, and the tests are run in it; they print what they measure.
Without the downloads and the building of the emulated devices it takes eight minutes on two cores.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import venv
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PACKAGES = ["torch==2.13.0", "-e", f"{ROOT}[test]"]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="for the environment; must not be there yet")
    folder = parser.parse_args().folder
    if folder.exists():
        parser.error(f"{folder} is there already: name a folder that can be made")
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
    begin = time.monotonic()
    tests = [python, "-m", "pytest", "-q", "-m", "slow or not slow", str(HERE)]
    code = subprocess.run(tests, cwd=ROOT, check=False).returncode
    print(f"{time.monotonic() - begin:.0f} s")
    return code


if __name__ == "__main__":
    sys.exit(main())
