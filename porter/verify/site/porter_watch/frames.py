"""Whose code a call comes from: the user's is what lies under the folder that is verified."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from types import FrameType
from typing import Dict, List, Optional, Tuple

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_SHIM = b"# porter_runtime "
_USERS, _OURS, _OTHERS = "the user's", "porter's", "another's"


class Owners:
    """Tells the user's files from all others, by where they are."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._torch = os.path.join(os.path.dirname(str(sys.modules["torch"].__file__)), "")
        self._start = os.getcwd()
        below = os.path.join(root, "")
        # A virtual environment inside the repository holds other people's code.
        self._installed = [path for path in _installed() if path.startswith(below)]
        self._known: Dict[str, str] = {}

    def place(self, through_torch: bool = False) -> Optional[Tuple[str, int]]:
        """Return file, relative to the root, and line of the user's code that made a call.

        None if it comes from elsewhere: from a library, or from the shim, which says "cuda" to
        torch by itself. Only the nearest caller counts: what torch or a library does on its own
        behind a call is not the user's doing.

        Args:
            through_torch: look behind torch's own frames as well, as behind `Module.to`.
        """
        frame = _leave(sys._getframe(), _HERE)
        if through_torch:
            frame = _leave(frame, self._torch)
        name = frame.f_code.co_filename
        if self._owner(name) != _USERS:
            return None
        return self.relative(name), frame.f_lineno

    def owns(self, name: str) -> bool:
        """Tell whether a file is the user's."""
        return self._owner(name) == _USERS

    def relative(self, name: str) -> str:
        """Return a file's path relative to the root."""
        path = self._real(name)
        return os.path.basename(path) if path == self.root else os.path.relpath(path, self.root)

    def _real(self, name: str) -> str:
        return os.path.realpath(os.path.join(self._start, name))

    def _owner(self, name: str) -> str:
        owner = self._known.get(name)
        if owner is None:
            owner = self._known[name] = self._find_owner(name)
        return owner

    def _find_owner(self, name: str) -> str:
        if name.startswith("<"):
            return _OTHERS
        path = self._real(name)
        if path != self.root and not path.startswith(os.path.join(self.root, "")):
            return _OTHERS
        if any(path.startswith(folder) for folder in self._installed):
            return _OTHERS
        return _OURS if _is_shim(path) else _USERS


def _leave(frame: FrameType, folder: str) -> FrameType:
    """Return the nearest caller, or the frame itself, whose code is outside of a folder."""
    while frame.f_back is not None and frame.f_code.co_filename.startswith(folder):
        frame = frame.f_back
    return frame


def _is_shim(path: str) -> bool:
    """Tell whether a file is of the shim, be it a copy of it inside the project."""
    if os.path.basename(os.path.dirname(path)) == "porter_runtime":
        return True
    try:
        with open(path, "rb") as file:
            return file.read(len(_SHIM)) == _SHIM
    except OSError:
        return False


def _installed() -> List[str]:
    folders = [sysconfig.get_path(key) for key in ("stdlib", "purelib", "platlib")]
    folders += getattr(site, "getsitepackages", list)()
    return [os.path.join(os.path.realpath(folder), "") for folder in folders if folder]
