"""What porter says of a site that it leaves: the construct, why, and what to do next."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from porter.engine import rewrite_source
from porter.model import Finding, Level
from porter.rule import all_rules

NEXT_STEP = re.compile(
    r"\b(?:add|ask|build|call|catch|choose|compare|drop|find|give|hand|import|keep|leave|let|load|"
    r"look|make|move|pass|patch|port|put|read|register|replace|return|run|say|see|set|split|start|"
    r"take|test|train|try|turn|use|widen|write)\b"
)
CONSTRUCT = re.compile(r"[\"'`]|\w\.\w|\w\(|\w=|_|[A-Z]{2}|\b(?:NPU|CUDA|torch)\b")
BARE = re.compile(
    r"\b(?:not|isn't|un)\s?supported\b|\bunknown\b|\bcannot be ported\b(?!:)", re.IGNORECASE
)


def complaint(finding: Finding) -> str | None:
    """Return what is wrong with a finding's message, None where nothing is."""
    message = finding.message
    if BARE.search(message):
        return "only says that it can't be done"
    if len(message) < 30 or not CONSTRUCT.search(message):
        return "does not name the construct"
    if finding.level is Level.MANUAL and not NEXT_STEP.search(message):
        return "gives no next step"
    if finding.level is Level.MANUAL and not re.search(r"[:;,]| since | which ", message):
        return "gives no reason"
    if message[-1] in ".!" or message != message.strip():
        return "is not a clause like the others"
    return None


def complaints(findings: Iterable[Finding]) -> list[str]:
    left = {f.message: f for f in findings if f.level in (Level.MANUAL, Level.NOTE)}
    return [f"{f.code}: {m!r} {c}" for m, f in left.items() if (c := complaint(f)) is not None]


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_messages_of_the_examples(rule) -> None:  # type: ignore[no-untyped-def]
    texts = [*(before for before, _ in rule.rewrites), *rule.manual, *rule.notes]
    findings = [f for text in texts for f in rewrite_source(text.encode()).findings]
    assert not complaints(findings)
    if rule.manual:
        assert any(f.code == rule.code and f.level is Level.MANUAL for f in findings)


@pytest.mark.parametrize("requirement", ["accelerate==0.20.3", "yolov5==7.0.13"])
def test_messages_over_a_project(requirement: str, project: Callable[[str], Path]) -> None:
    found: list[Finding] = []
    for path in sorted(project(requirement).rglob("*.py")):
        found += rewrite_source(path.read_bytes()).findings
    assert len({f.message for f in found}) > 10
    assert not complaints(found)


@pytest.mark.parametrize(
    ("message", "wrong"),
    [
        ("not supported", "only says"),
        ("torch.cuda.graph is unsupported on NPU: port it by hand", "only says"),
        ("port this", "does not name"),
        ("CUDAGraph captures CUDA graphs, and other devices don't", "no next step"),
        ("pass accel.device_type to torch.load in this place", "no reason"),
    ],
)
def test_a_weak_message_is_told_from_a_good_one(message: str, wrong: str) -> None:
    found = complaint(Finding("PTR999", Level.MANUAL, message, 1, 1, 1, 1))
    assert found is not None
    assert wrong in found
