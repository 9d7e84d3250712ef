"""Where a report is written to."""

from __future__ import annotations

import os
from pathlib import Path

from porter.errors import Refused


def require(path: Path) -> None:
    """Make sure that a report can be written, before the work for it is done.

    Raises:
        Refused: it can't.
    """
    folder = path.parent
    if not folder.is_dir():
        raise Refused(f"{path} can't be written: there is no folder {folder}")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise Refused(f"{path} can't be written: permission denied")


def write(path: Path, text: str) -> None:
    """Write a report, whole or not at all.

    Raises:
        Refused: it can't be written; what was there is left.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise Refused(f"{path} can't be written: {error.strerror or error}") from error
