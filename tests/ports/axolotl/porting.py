"""porter's command line, and the port that it makes of axolotl."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.ports.axolotl.environment import ROOT


def porter(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs porter's command line."""
    path = [str(ROOT / part) for part in (".", "rules", "runtime")]
    return subprocess.run(
        [sys.executable, "-m", "porter", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        capture_output=True,
        text=True,
        check=False,
    )


def ported(source: Path, folder: Path) -> Path:
    """Copies the tree and ports it with a shim of its own; no other hand is laid on it."""
    shutil.copytree(source, folder)
    done = porter("rewrite", str(folder), "--vendor", str(folder / "src" / "axolotl"))
    assert done.returncode == 0, done.stdout + done.stderr
    return folder
