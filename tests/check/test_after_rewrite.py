"""What porter ported, porter's check is content with."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.harness import Porter
from tests.corpus.test_corpus import QUICK, SLOW


def levels(document: Any) -> Counter[tuple[str, str]]:
    """Count a report's findings by level and code; what is rightly left is none."""
    findings = [f for file in document["files"] for f in file["findings"]]
    return Counter((f["level"], f["code"]) for f in findings if f["level"] != "note")


@pytest.mark.parametrize(
    "requirement", [*QUICK, *(pytest.param(r, marks=pytest.mark.slow) for r in SLOW)]
)
def test_only_what_was_left_to_a_person_is_found(
    requirement: str, project: Callable[[str], Path], folder: Path, porter: Porter
) -> None:
    shutil.copytree(project(requirement), folder / "project")
    before = levels(json.loads(porter("check", "--all", "--format", "json").out))
    done = levels(json.loads(porter("rewrite", ".", "--format", "json").out))
    after = levels(json.loads(porter("check", "--all", "--format", "json").out))
    assert before == done
    assert any(level == "rewritten" for level, _ in before)
    assert not {level for level, _ in after} - {"manual"}
    # A site that is only one together with what was ported isn't found any more.
    assert after <= done
