"""Each rule's page: what it does, why, what stays the same on CUDA, what it leaves."""

from __future__ import annotations

import re

import pytest

from porter.rule import Rule, all_rules

RULES = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
JARGON = re.compile(r"\b(?:libcst|fragment|node|ctx|AST|walrus|trigger|TODO|FIXME)\b")
ON_CUDA = re.compile(
    r"\b[Oo]n\s+(?:an?\s+|every\s+)?(?:\w+,\s+)*CUDA\b|CUDA's\s+own|\bon\s+every\s+device"
)
LEFT = re.compile(
    r"\b(?:left|leaves?|stays?|stayed|kept|keeps?|not(?:ed|es?)?|reports?|reported|by hand|"
    r"point(?:s|ed)? out|person|nothing)\b",
    re.IGNORECASE,
)


@RULES
def test_a_page_has_a_summary_and_more_than_that(rule: Rule) -> None:
    summary, _, rest = rule.doc.partition("\n")
    assert re.match(r"[A-Z`]", summary)
    assert len(rest.split()) >= 20, "why, and what is not rewritten"
    assert not JARGON.search(rule.doc), "in the terms of the field"


@RULES
def test_a_rule_that_rewrites_says_what_stays_the_same_on_cuda(rule: Rule) -> None:
    if rule.rewrites:
        assert ON_CUDA.search(rule.doc)


@RULES
def test_a_rule_that_leaves_something_says_so(rule: Rule) -> None:
    if rule.manual or rule.notes:
        assert LEFT.search(rule.doc)
