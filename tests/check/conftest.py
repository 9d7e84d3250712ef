"""What the tests of `porter check` share with those of the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import folder, porter, python, repository
from tests.cli.harness import Porter

__all__ = ["folder", "porter", "python", "repository"]

Flagged = Callable[..., list[str]]


@pytest.fixture(autouse=True)
def _no_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep out what hooks around the tests would tell porter."""
    monkeypatch.delenv("PRE_COMMIT_FROM_REF", raising=False)
    for name in ("GIT_INDEX_FILE", "GIT_REFLOG_ACTION"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def report(porter: Porter) -> Callable[..., Any]:
    """Return a function that runs a check and returns its JSON."""

    def run(*arguments: str | Path) -> Any:
        result = porter("check", "--format", "json", *arguments)
        document = json.loads(result.out)
        wrong = document["summary"]["findings"] or document["stale"]
        errors = document["summary"]["errors"]
        assert result.code == (2 if errors else int(bool(wrong)))
        return document

    return run


@pytest.fixture
def flagged(report: Callable[..., Any]) -> Flagged:
    """Return a function that runs a check and returns "path:line CODE" of each finding."""

    def run(*arguments: str | Path) -> list[str]:
        return [
            f"{file['path']}:{finding['line']} {finding['code']}"
            for file in report(*arguments)["files"]
            for finding in file["findings"]
        ]

    return run
