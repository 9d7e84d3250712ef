"""Reads what the watched processes write, while they write it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Row = dict[str, Any]


@dataclass
class Written:
    """What one process has written so far.

    Attributes:
        name: the file's; names sort by the time of the first line.
        process: who it is; empty for a forked child.
        rows: optimizer steps.
        state: what was last said of parameters, device and process group.
        traps: uses of torch.cuda.
        errors: the exception that ended the process.
        faults: what went wrong in watching.
        stopped: whether it has reached `--steps`.
    """

    name: str
    process: Row = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    state: Row = field(default_factory=dict)
    traps: list[Row] = field(default_factory=list)
    errors: list[Row] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    stopped: bool = False

    @property
    def pid(self) -> int:
        """The process's id."""
        return int(Path(self.name).stem.rpartition("-")[2])

    def add(self, row: Row) -> None:
        """Take in one line."""
        match row.pop("kind"):
            case "process":
                self.process = row
            case "steps":
                self.rows += row["rows"]
            case "state":
                # A later state may know less: of a process group that was left, for example.
                row["peak_memory"] = _larger(self.state.get("peak_memory"), row.get("peak_memory"))
                drew = self.state.get("drew_on_device") or row.get("drew_on_device")
                self.state = {**self.state, **row, "drew_on_device": drew}
            case "trap":
                self.traps.append(row)
            case "error":
                self.errors.append(row)
            case "fault":
                self.faults.append(row["text"])
            case "stopped":
                self.stopped = True


class Reader:
    """Follows the files of a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._offsets: dict[Path, int] = {}
        self._written: dict[Path, Written] = {}

    def read(self) -> list[Written]:
        """Return what all processes have written up to now, in the order of their beginning."""
        for path in sorted(self._folder.glob("*.jsonl")):
            written = self._written.setdefault(path, Written(path.name))
            for row in self._new_rows(path):
                written.add(row)
        return [self._written[path] for path in sorted(self._written)]

    def _new_rows(self, path: Path) -> Iterator[Row]:
        with path.open("rb") as file:
            file.seek(self._offsets.get(path, 0))
            for line in file:
                if not line.endswith(b"\n"):
                    break  # a process that was killed while it wrote; or it is about to go on
                self._offsets[path] = self._offsets.get(path, 0) + len(line)
                yield json.loads(line)


def _larger(one: int | None, other: int | None) -> int | None:
    known = [value for value in (one, other) if value is not None]
    return max(known, default=None)
