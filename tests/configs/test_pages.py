"""Each rule's page and messages keep to what those about code keep to."""

from __future__ import annotations

import pytest

from porter.catalogue import catalogue
from porter.configs import rewrite_config
from porter.configs.rule import ConfigRule, config_rules
from porter.model import Options
from porter.rule import all_rules
from tests.rules.test_messages import complaints
from tests.rules.test_pages import JARGON, LEFT, ON_CUDA

RULES = pytest.mark.parametrize("rule", config_rules(), ids=lambda rule: rule.code)


@RULES
def test_a_page_says_what_why_and_what_is_left(rule: ConfigRule) -> None:
    summary, _, rest = rule.doc.partition("\n")
    assert summary[0].isupper()
    assert len(rest.split()) >= 20
    assert not JARGON.search(rule.doc)
    assert LEFT.search(rule.doc)
    if rule.rewrites:
        assert ON_CUDA.search(rule.doc)


@RULES
def test_messages_of_the_samples(rule: ConfigRule) -> None:
    found = [
        finding
        for sample in rule.samples
        for finding in rewrite_config(
            sample.text.encode(), name=sample.name, options=Options()
        ).findings
    ]
    assert not complaints(found)


def test_the_catalogue_holds_all_rules_by_code() -> None:
    codes = [page.code for page in catalogue()]
    assert codes == sorted({r.code for r in all_rules()} | {r.code for r in config_rules()})
    assert {"PTR101", "PTR801"} <= set(codes)
    names = [page.name for page in catalogue()]
    assert len(set(names)) == len(names)
