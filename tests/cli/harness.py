from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from porter.discover import Discovery, discover
from porter.exclude import Excluder, Exclusion

_IDENTITY = ["-c", "user.name=Tester", "-c", "user.email=tester@example.org"]


@dataclass(frozen=True)
class Result:
    code: int
    out: bytes
    err: str


Porter = Callable[..., Result]


class Repository:
    """A git work tree to put files into."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q")

    def git(self, *arguments: str) -> bytes:
        command = ["git", *_IDENTITY, *arguments]
        done = subprocess.run(command, cwd=self.path, capture_output=True, check=True)
        return done.stdout

    def write(self, name: str, data: bytes = b"") -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "state", "--allow-empty")


def names(found: Discovery) -> list[str]:
    return [str(file.path) for file in found.files]


def skipped(found: Discovery) -> dict[str, str]:
    return {item.path: item.reason for item in found.skipped}


def search(*paths: str | Path, exclude: tuple[str, ...] = ()) -> Discovery:
    exclusion = Exclusion(Path(os.path.realpath(".")), Excluder(exclude))
    return discover([Path(path) for path in paths], [exclusion])


def touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
