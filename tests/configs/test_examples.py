"""Every rule's own samples, as tests: what it rewrites, leaves, notes and does not see."""

from __future__ import annotations

import pytest

from porter.configs import rewrite_config
from porter.configs.rule import ConfigRule, Sample, config_rules
from porter.model import Level, Options

SAMPLES = [
    pytest.param(rule.code, sample, id=f"{rule.code}-{getattr(sample.level, 'value', 'valid')}-{n}")
    for rule in config_rules()
    for n, sample in enumerate(rule.samples)
]


@pytest.mark.parametrize(("code", "sample"), SAMPLES)
def test_a_sample_without_configs(code: str, sample: Sample) -> None:
    data = sample.text.encode()
    result = rewrite_config(data, name=sample.name, options=Options())
    assert not result.failed, result.findings
    assert result.output == data
    found = [f for f in result.findings if f.code == code]
    if sample.level is None:
        assert not found
        return
    asked = Level.MANUAL if sample.level is Level.REWRITTEN else sample.level
    assert [f for f in found if f.level is asked], result.findings
    if sample.level is Level.REWRITTEN:
        assert all(f.replacement for f in found), "what --configs would write is said"


@pytest.mark.parametrize(("code", "sample"), SAMPLES)
def test_a_sample_with_configs(code: str, sample: Sample) -> None:
    options = Options(configs=True)
    result = rewrite_config(sample.text.encode(), name=sample.name, options=options)
    assert result.output.decode() == sample.after
    rewritten = [f.code for f in result.findings if f.level is Level.REWRITTEN]
    assert rewritten == ([code] if sample.level is Level.REWRITTEN else [])
    again = rewrite_config(result.output, name=sample.name, options=options)
    assert again.output == result.output, "a second run changes the result"
    assert not [f for f in again.findings if f.code in rewritten and f.level is not Level.NOTE]


@pytest.mark.parametrize("rule", config_rules(), ids=lambda rule: rule.code)
def test_every_rule_is_documented_by_samples(rule: ConfigRule) -> None:
    assert rule.rewrites or rule.manual
    assert rule.valid
    assert len(rule.summary) < 100
    assert rule.summary.endswith(".")
    assert rule.code.startswith("PTR8")


@pytest.mark.parametrize("rule", config_rules(), ids=lambda rule: rule.code)
def test_a_rule_left_out_finds_nothing(rule: ConfigRule) -> None:
    options = Options(ignore=(rule.code,), configs=True)
    for sample in rule.samples:
        result = rewrite_config(sample.text.encode(), name=sample.name, options=options)
        assert rule.code not in {f.code for f in result.findings}
        assert result.output == sample.text.encode()
