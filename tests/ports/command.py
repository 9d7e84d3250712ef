"""porter's command line, as the ports are made with it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


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
