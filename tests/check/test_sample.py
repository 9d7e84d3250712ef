"""Nothing is found where nothing has to be said: 200 findings judged by eye, all of them by place.

How the sample is drawn: sample.py. The projects come from PyPI, as in tests/corpus.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from porter.engine import may_have_sites, rewrite_source
from porter.model import Finding, Level
from tests.check.sample import COLUMNS, read_table
from tests.corpus.test_corpus import QUICK, SLOW

NUMBER = 200
TEXTS = {"PTR602": "out of memory", "PTR610": "nvidia-smi"}
"""The rules that find texts of several words, and what these hold."""

everything = pytest.mark.parametrize(
    "requirement", [*QUICK, *(pytest.param(r, marks=pytest.mark.slow) for r in SLOW)]
)


def found(data: bytes) -> list[Finding]:
    if not may_have_sites(data):
        return []
    levels = (Level.REWRITTEN, Level.MANUAL)
    return [f for f in rewrite_source(data).findings if f.level in levels]


def test_each_finding_of_the_sample_is_judged_and_hardly_any_is_false() -> None:
    rows = read_table()
    keys = Counter(tuple(row[name] for name in COLUMNS[:4]) for row in rows)
    assert len(rows) == NUMBER
    assert {row["verdict"] for row in rows} <= {"right", "false"}
    assert all(row["note"] for row in rows)
    assert max(keys.values()) <= 2  # two sites on a line
    assert sum(row["verdict"] == "false" for row in rows) < NUMBER / 100


@everything
def test_the_sample_is_what_porter_finds(requirement: str, project: Callable[[str], Path]) -> None:
    folder = project(requirement)
    for row in read_table():
        if row["project"] != requirement.replace("==", "-"):
            continue
        data = (folder / row["file"]).read_bytes()
        place = int(row["line"]), row["code"], row["level"]
        assert place in {(f.line, f.code, f.level.value) for f in found(data)}, row


@everything
def test_no_finding_stands_in_a_comment_or_a_text(
    requirement: str, project: Callable[[str], Path]
) -> None:
    number = 0
    for path in sorted(project(requirement).rglob("*.py")):
        data = path.read_bytes()
        findings = found(data)
        if not findings:
            continue
        tokens = list(tokenize.tokenize(io.BytesIO(data).readline))
        for finding in findings:
            number += 1
            at = (finding.line, finding.column - 1)
            token = next(t for t in tokens if t.start <= at < t.end)
            assert token.type != tokenize.COMMENT, (path, finding)
            is_text = token.type == tokenize.STRING and re.match(r"[rbu]*['\"]", token.string)
            if is_text and re.search(r"\s", token.string):
                assert TEXTS[finding.code] in token.string.lower(), (path, finding)
    assert number
