"""What porter says about a file of configuration, for tests."""

from __future__ import annotations

from porter.configs import rewrite_config
from porter.model import Finding, Level, Options, Rewrite


def scan(name: str, text: str, *, configs: bool = False) -> Rewrite:
    """Look at a file's text."""
    return rewrite_config(text.encode(), name=name, options=Options(configs=configs))


def found(name: str, text: str) -> list[tuple[str, int, int]]:
    """Return the code, line and column of what is left to a person."""
    findings = scan(name, text).findings
    return [(f.code, f.line, f.column) for f in findings if f.level is Level.MANUAL]


def marked(finding: Finding) -> str:
    """Return the text that a finding on one line points at."""
    assert finding.line == finding.end_line
    return finding.source[finding.column - 1 : finding.end_column - 1]
