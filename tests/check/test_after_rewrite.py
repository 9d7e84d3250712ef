"""What porter ported, porter's check is content with."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.harness import Porter


@pytest.mark.parametrize("requirement", ["accelerate==0.20.3", "yolov5==7.0.13"])
def test_only_what_was_left_to_a_person_is_found(
    requirement: str, project: Callable[[str], Path], folder: Path, porter: Porter
) -> None:
    shutil.copytree(project(requirement), folder / "project")
    before = json.loads(porter("check", "--all", "--format", "json").out)
    ported = json.loads(porter("rewrite", ".", "--format", "json").out)
    after = json.loads(porter("check", "--all", "--format", "json").out)
    levels = {f["level"] for file in before["files"] for f in file["findings"]}
    assert "rewritten" in levels
    found = [(f["level"], f["code"]) for file in after["files"] for f in file["findings"]]
    left = [
        (f["level"], f["code"])
        for file in ported["files"]
        for f in file["findings"]
        if f["level"] not in {"rewritten", "note"}
    ]
    assert {level for level, _ in found} <= {"manual"}
    assert sorted(found) == sorted(left)
    assert after["summary"]["errors"] == 0
