"""`[tool.porter]` in pyproject.toml: the command line's options, written down for a project."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from porter import git
from porter.errors import Refused


@dataclass(frozen=True)
class Config:
    """The settings of a project; `path` is the file that they stand in, None without one.

    `exclude`, `vendor`, `baseline` and the patterns of `per_file_ignores`, each with its codes,
    are relative to that file's folder; so is `reference` in `verify`, whose keys are the options
    of `porter verify` and `command`.
    """

    path: Path | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    jobs: int | None = None
    vendor: str | None = None
    baseline: str | None = None
    per_file_ignores: Mapping[str, Sequence[str]] = field(default_factory=dict)
    verify: Mapping[str, Any] = field(default_factory=dict)


_TYPES = {
    "select": "a list of strings",
    "ignore": "a list of strings",
    "exclude": "a list of strings",
    "jobs": "a whole number of at least 1",
    "vendor": "the path of a folder",
    "baseline": "the path of a file",
    "per-file-ignores": "a table from patterns to lists of codes",
    "verify": "a table",
}
_VERIFY_TYPES = {
    "command": "a list of strings",
    "backend": "a list of strings",
    "reference": "the path of a folder",
    "reference-backend": "a backend",
    "steps": "a whole number of at least 1",
    "rtol": "a number of at least 0",
    "timeout": "a number of at least 0",
    "devices": "a whole number of at least 1",
}
_PER_RUN = {"all", "allow-dirty", "diff-base", "dry-run", "exit-zero", "fix", "format", "staged"}
_PER_RUN |= {"configs", "report", "statistics", "strict-baseline", "verbose", "write-baseline"}


def load(start: Path) -> Config:
    """Read the nearest pyproject.toml that has a `[tool.porter]`, at or above `start`.

    The search ends at the root of the repository that `start` lies in.

    Raises:
        Refused: a file on the way isn't TOML, or a key is unknown or of the wrong type; the text
            names the file and the key.
    """
    folder = Path(os.path.realpath(start))
    if not folder.is_dir():
        folder = folder.parent
    root = git.find_root(folder)
    for candidate in (folder, *folder.parents):
        path = candidate / "pyproject.toml"
        if path.is_file():
            table = _read(path)
            if table is not None:
                return _config(path, table)
        if candidate == root:
            break
    return Config()


def _read(path: Path) -> dict[str, Any] | None:
    """Return the file's `[tool.porter]`, None where it has none."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        tool = tomllib.loads(path.read_text("utf-8")).get("tool", {})
    except (OSError, ValueError, RecursionError) as error:
        raise Refused(f"{path} cannot be read: {error}") from error
    table = tool.get("porter") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise Refused(f"{path}: tool.porter has to be a table")
    return table


def _config(path: Path, table: dict[str, Any]) -> Config:
    for key in table:
        if key in _PER_RUN:
            raise Refused(f"{path}: tool.porter.{key} is for the command line only")
    values = _checked(path, "tool.porter", table, _TYPES)
    if "verify" in values:
        values["verify"] = _checked(path, "tool.porter.verify", values["verify"], _VERIFY_TYPES)
    return Config(path=path, **values)


def _checked(
    path: Path, name: str, table: dict[str, Any], types: Mapping[str, str]
) -> dict[str, Any]:
    """Return a table's values, lists as tuples, under keys that are Python names."""
    for key, value in table.items():
        if key not in types:
            import difflib

            close = difflib.get_close_matches(key, types, 1)
            hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(types)}"
            raise Refused(f"{path}: {name}.{key} is unknown; {hint}")
        if not _fits(value, types[key]):
            raise Refused(f"{path}: {name}.{key} has to be {types[key]}, not {value!r}")
    return {
        key.replace("-", "_"): tuple(v) if isinstance(v, list) else v for key, v in table.items()
    }


def _fits(value: object, kind: str) -> bool:
    match kind:
        case "a list of strings":
            return isinstance(value, list) and all(isinstance(item, str) for item in value)
        case "a table":
            return isinstance(value, dict)
        case "a number of at least 0":
            return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0
        case "the path of a folder" | "the path of a file" | "a backend":
            return isinstance(value, str) and value != ""
        case "a table from patterns to lists of codes":
            lists = value.values() if isinstance(value, dict) else [None]
            return all(_fits(each, "a list of strings") for each in lists)
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
