"""Port axolotl, and run it in every way that the tests know, from an empty environment.

Usage: ``python tests/ports/axolotl/run.py FOLDER``. FOLDER gets porter's environment, axolotl's
(Python 3.11 has to be on the path) and the emulated devices, 4 GB in all. The tests print what they
measure; a browser is driven where Chromium is on the path.
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
PACKAGES = ["torch==2.13.0", "-e", f"{ROOT}[test]", "playwright"]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="for the environments; must not be there yet")
    folder = parser.parse_args().folder.absolute()
    if folder.exists():
        parser.error(f"{folder} is there already: name a folder that can be made")
    pip = subprocess.run(
        [sys.executable, "-m", "pip", "cache", "dir"], capture_output=True, text=True, check=True
    )
    # The caches hold the environments and devices that were built before; pip's, only downloads.
    env = os.environ | {"XDG_CACHE_HOME": str(folder), "PIP_CACHE_DIR": pip.stdout.strip()}
    venv.create(folder / "porter", with_pip=True)
    python = str(folder / "porter" / "bin" / "python")

    begin = time.monotonic()
    install = [python, "-m", "pip", "install", "--quiet", *PACKAGES]
    subprocess.run(install, env=env, check=True)
    build = "from tests.ports.axolotl import environment as e; e.python(); e.source()"
    subprocess.run([python, "-c", build], cwd=ROOT, env=env, check=True)
    installed = time.monotonic()
    tests = [python, "-m", "pytest", "-q", "-m", "slow or not slow", str(HERE)]
    code = subprocess.run(tests, cwd=ROOT, env=env, check=False).returncode
    print(f"installing: {installed - begin:.0f} s; tests: {time.monotonic() - installed:.0f} s")
    return code


if __name__ == "__main__":
    sys.exit(main())
