"""Every rule's own examples, as tests: what it rewrites, leaves, notes and does not see."""

from __future__ import annotations

import ast

import pytest

from porter.engine import rewrite_source
from porter.model import Finding, Level
from porter.rule import all_rules

SHIM_IMPORT = "import porter_runtime as accel\n"


def port(before: str) -> tuple[str, tuple[Finding, ...]]:
    """Port a module's text and take the shim's import off again."""
    result = rewrite_source(before.encode())
    assert not result.failed, result.findings
    text = result.output.decode()
    ast.parse(text)
    if not before.endswith("\n"):
        text = text.removesuffix("\n") if text.endswith("\n") else text
    return text.replace(SHIM_IMPORT, "", 1), result.findings


REWRITES = [
    pytest.param(rule.code, before, after, id=f"{rule.code}-rewrites-{n}")
    for rule in all_rules()
    for n, (before, after) in enumerate(rule.rewrites)
]
LEFT = [
    pytest.param(rule.code, level, text, id=f"{rule.code}-{level.value}-{n}")
    for rule in all_rules()
    for level, texts in ((Level.MANUAL, rule.manual), (Level.NOTE, rule.notes))
    for n, text in enumerate(texts)
]
VALID = [
    pytest.param(rule.code, text, id=f"{rule.code}-valid-{n}")
    for rule in all_rules()
    for n, text in enumerate(rule.valid)
]


@pytest.mark.parametrize(("code", "before", "after"), REWRITES)
def test_rewrites(code: str, before: str, after: str) -> None:
    text, findings = port(before)
    assert text == after
    assert code in {f.code for f in findings if f.level is Level.REWRITTEN}
    full = rewrite_source(before.encode()).output
    assert rewrite_source(full).output == full, "a second run changes the result"


@pytest.mark.parametrize(("code", "level", "text"), LEFT)
def test_left_with_a_reason(code: str, level: Level, text: str) -> None:
    ported, findings = port(text)
    assert ported == text
    reasons = [f.message for f in findings if f.code == code and f.level is level]
    assert reasons, findings
    assert all(len(reason) > 20 for reason in reasons), "a reason says why, and what to do"


@pytest.mark.parametrize(("code", "text"), VALID)
def test_not_seen(code: str, text: str) -> None:
    _, findings = port(text)
    assert code not in {f.code for f in findings}


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_every_rule_is_documented_by_examples(rule) -> None:  # type: ignore[no-untyped-def]
    assert rule.rewrites or rule.manual or rule.notes
    assert len(rule.summary) < 100
    assert rule.summary.endswith(".")
