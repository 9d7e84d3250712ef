"""The files of a folder that no git knows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

_JUNK = frozenset(
    {
        ".eggs",
        ".git",
        ".hg",
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
    top: str, visited: Callable[[str], bool], unreadable: Callable[[OSError], object]
) -> Iterator[str]:
    """Yield the Python files, and all links, below `top`, relative to it.

    Folders of generated, installed or downloaded files are passed over, as are virtual
    environments of any name; links are not followed.

    Args:
        top: a folder.
        visited: is given each folder below `top`, and says whether it has been dealt with.
        unreadable: is told of each folder that can't be listed.
    """
    for folder, folders, files in os.walk(top, onerror=unreadable):
        inside = os.path.relpath(folder, top)
        prefix = "" if inside == "." else inside + os.sep
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        folders[:] = sorted(
            name
            for name in folders
            if not _is_junk(folder, name)
            and name not in links
            and not visited(os.path.join(folder, name))
        )
        for name in sorted(links + files):
            path = os.path.join(folder, name)
            if name.endswith(".py") or os.path.islink(path):
                yield prefix + name


def _is_junk(folder: str, name: str) -> bool:
    return (
        name in _JUNK
        or name.endswith(".egg-info")
        or os.path.lexists(os.path.join(folder, name, "pyvenv.cfg"))
    )
