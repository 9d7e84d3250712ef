"""The files of a folder that no git knows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from porter import kinds

_JUNK = frozenset(
    {
        ".eggs",
        ".git",
        ".hg",
        ".ipynb_checkpoints",
        ".mypy_cache",
        ".nox",
        ".pytest_cache",
        ".ruff_cache",
        ".svn",
        ".tox",
        ".venv",
        "__pycache__",
        "__pypackages__",
        "build",
        "dist",
        "node_modules",
        "site-packages",
        "venv",
    }
)
"""Folders that hold nobody's source."""


def walk(
    top: Path, repository: Callable[[Path], object], unreadable: Callable[[OSError], object]
) -> Iterator[str]:
    """Yield the files of a kind that porter reads, and all links, below `top`.

    Names are relative to it, and come in a fixed order.
    Folders of generated, installed or downloaded files are passed over, as are virtual
    environments of any name; links are not followed.

    Args:
        top: a folder.
        repository: is told of each folder with a `.git` below `top`, which is not walked.
        unreadable: is told of each folder that can't be listed.
    """
    for folder, folders, files in os.walk(top, onerror=unreadable):
        links = [name for name in folders if Path(folder, name).is_symlink()]
        kept = []
        for name in sorted(set(folders).difference(links)):
            inner = Path(folder, name)
            if _is_junk(inner):
                continue
            if os.path.lexists(inner / ".git"):
                repository(inner)
            else:
                kept.append(name)
        folders[:] = kept
        inside = Path(folder).relative_to(top).as_posix()
        prefix = "" if inside == "." else f"{inside}/"
        for name in sorted(links + files):
            if kinds.of(prefix + name) or Path(folder, name).is_symlink():
                yield prefix + name


def _is_junk(folder: Path) -> bool:
    return (
        folder.name in _JUNK
        or folder.name.endswith(".egg-info")
        or os.path.lexists(folder / "pyvenv.cfg")
    )
