"""Copies the runtime shim into a ported package, and keeps the copy fresh.

The copy is a leaf package named `_accel` that needs torch alone, for projects that take no new
dependency: `from axolotl import _accel as accel`. A header in each file names the version; the one
in `__init__.py` holds a hash of every file, by which later edits are found.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from porter.vendored import NAME

_HEADER = """\
# porter_runtime {version}, copied by porter: edit it there, `porter vendor --update` replaces this.
# SPDX-License-Identifier: Apache-2.0
# fmt: off
# isort: skip_file
# ruff: noqa
# flake8: noqa
"""
_HEADER_LINES = _HEADER.count("\n")
_VERSION = re.compile(r"# porter_runtime (\S+), copied by porter:")
_HASH = re.compile(r"# sha256 ([0-9a-f]{64}) (\S+)")


class VendorError(Exception):
    """The shim can't be copied; nothing was changed. The message says what to do."""


class EditedError(VendorError):
    """The copy was edited after it was made.

    Attributes:
        files: The names of the files that were edited, added or removed.
    """

    def __init__(self, folder: Path, files: tuple[str, ...]) -> None:
        super().__init__(
            f"{folder} was edited by hand ({', '.join(files)}) and is left as it is: take the "
            "edits out or move them elsewhere, or overwrite them with "
            f"`porter vendor {folder.parent} --update --force`"
        )
        self.files = files


@dataclass(frozen=True)
class Copy:
    """A copy of the shim: its folder, the version it was made from, and the files edited since."""

    folder: Path
    version: str
    edited: tuple[str, ...]

    @property
    def outdated(self) -> bool:
        """Whether this porter carries other files than those that the copy was made from."""
        return _recorded(self.folder) != {name: _hash(data) for name, data in _shim().items()}


def find(target: Path) -> Copy | None:
    """Return the copy in the package folder `target`, or None where there is none.

    Raises:
        VendorError: `target` is no folder, or something else has the copy's name.
    """
    if not target.is_dir():
        raise VendorError(f"{target} is no folder: name the package that shall hold {NAME}")
    folder = target / NAME
    if not folder.exists():
        return None
    start = folder / "__init__.py"
    named = _VERSION.match(start.read_text(encoding="utf-8")) if start.is_file() else None
    if named is None:
        raise VendorError(
            f"{folder} is there and is no copy of the shim: move it away, or choose another package"
        )
    recorded = _recorded(folder)
    present = {
        path.name: _hash(_body(path)) for path in folder.iterdir() if path.name != "__pycache__"
    }
    edited = {name for name in recorded.keys() | present if recorded.get(name) != present.get(name)}
    return Copy(folder, named[1], tuple(sorted(edited)))


def vendor(target: Path) -> Copy:
    """Copy the shim into the package folder `target`; leave a copy that is there as it is.

    Raises:
        VendorError: As `find`.
    """
    return find(target) or _write(target)


def update(target: Path, force: bool = False) -> Copy:
    """Replace the copy in `target` by the shim of this porter.

    Args:
        target: The package folder that holds the copy.
        force: Overwrite edited files, and remove added ones.

    Raises:
        EditedError: The copy was edited and `force` is False.
        VendorError: There is no copy, or as `find`.
    """
    copy = find(target)
    if copy is None:
        raise VendorError(f"{target} holds no {NAME}: make one with `porter vendor {target}`")
    if copy.edited and not force:
        raise EditedError(copy.folder, copy.edited)
    return _write(target) if copy.edited or copy.outdated else copy


def _write(target: Path) -> Copy:
    folder = target / NAME
    folder.mkdir(exist_ok=True)
    files = _shim()
    version = re.search(rb'^__version__ = "(.+)"', files["__init__.py"], re.MULTILINE)
    assert version is not None, "the shim states its version"
    header = _HEADER.format(version=version[1].decode())
    hashes = "".join(f"# sha256 {_hash(data)} {name}\n" for name, data in files.items())
    # __init__.py last: it vouches for the others.
    for name, data in sorted(files.items(), key=lambda item: item[0] == "__init__.py"):
        head = header if name.endswith((".py", ".pyi")) else ""
        if name == "__init__.py":
            head += hashes
        _replace(folder / name, head.encode() + data)
    for path in folder.iterdir():
        if path.is_file() and path.name not in files:
            path.unlink()
    return Copy(folder, version[1].decode(), ())


def _replace(path: Path, data: bytes) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _shim() -> Mapping[str, bytes]:
    """Return the shim's files by name, without importing it."""
    spec = importlib.util.find_spec("porter_runtime")
    if spec is None or spec.origin is None:
        raise VendorError("porter_runtime is not installed beside porter: reinstall porter-codemod")
    folder = Path(spec.origin).parent
    return {
        path.name: path.read_bytes().replace(b"\r\n", b"\n")
        for path in sorted(folder.iterdir())
        if path.suffix in (".py", ".pyi", ".typed")
    }


def _recorded(folder: Path) -> dict[str, str]:
    text = (folder / "__init__.py").read_text(encoding="utf-8")
    return {name: digest for digest, name in _HASH.findall(text)}


def _body(path: Path) -> bytes:
    """Return a copied file as it was in the shim: git may have changed its newlines."""
    data = path.read_bytes().replace(b"\r\n", b"\n") if path.is_file() else b""
    if path.suffix not in (".py", ".pyi"):
        return data
    lines = data.split(b"\n")
    head = _HEADER_LINES
    while head < len(lines) and _HASH.match(lines[head].decode(errors="replace")):
        head += 1
    return b"\n".join(lines[head:])


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
