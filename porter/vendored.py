"""Where a repository keeps its own copy of the shim, when nobody says so."""

from __future__ import annotations

import os
from pathlib import Path

from porter import git

MARK = b"# porter_runtime "
"""How each file of a copied shim begins."""

NAME = "_accel"
"""What a copy is called."""


def find_package(path: Path) -> Path | None:
    """Return the folder of the package that holds the copy of the shim in a path's repository.

    None where there is no copy, or more than one: then the configuration has to say which. A
    path in no repository is searched itself, some folders deep.
    """
    real = Path(os.path.realpath(path))
    folder = real if real.is_dir() else real.parent
    root = git.find_root(folder)
    inits = _in_repository(root) if root is not None else _below(folder)
    packages = {init.parent.parent for init in inits if _is_copy(init)}
    return packages.pop() if len(packages) == 1 else None


def _in_repository(root: Path) -> list[Path]:
    try:
        names = git.matching(root, f":(glob)**/{NAME}/__init__.py")
    except git.GitError:
        return []
    return [root / name for name in names]


def _below(folder: Path) -> list[Path]:
    depths = ("*", "*/*", "*/*/*")
    return [init for depth in depths for init in folder.glob(f"{depth}/{NAME}/__init__.py")] + [
        init for init in [folder / NAME / "__init__.py"] if init.is_file()
    ]


def _is_copy(init: Path) -> bool:
    try:
        with init.open("rb") as file:
            return file.read(len(MARK)) == MARK
    except OSError:
        return False
