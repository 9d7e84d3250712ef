"""The projects that are measured: source distributions from PyPI, pinned."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

LARGE = "transformers==5.24.0"
MIDDLE = "axolotl==0.5.2"
SMALL = "accelerate==0.20.3"


def fetch(requirement: str, folder: Path) -> Path:
    """Return the unpacked source of a project in `folder`; download it where it isn't there."""
    unpacked = folder / requirement.replace("==", "-")
    if not unpacked.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-build-isolation"]
        subprocess.run([*pip, "--no-binary=:all:", "-d", str(folder), requirement], check=True)
        with tarfile.open(folder / f"{unpacked.name}.tar.gz") as archive:
            archive.extractall(folder, filter="data")
    return unpacked
