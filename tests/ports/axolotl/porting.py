"""The port that porter makes of axolotl."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.ports.command import porter


def ported(source: Path, folder: Path) -> Path:
    """Copies the tree and ports it with a shim of its own; no other hand is laid on it."""
    shutil.copytree(source, folder)
    done = porter("rewrite", str(folder), "--vendor", str(folder / "src" / "axolotl"))
    assert done.returncode == 0, done.stdout + done.stderr
    return folder
