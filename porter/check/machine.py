"""A check's report as JSON, and as annotations of GitHub Actions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import porter
from porter.check.report import CheckReport, told
from porter.model import Finding


def as_json(report: CheckReport) -> str:
    """Return the report as one JSON document, in ASCII.

    The document is an object with the keys

    - "version": 1; it grows when a key goes or changes its meaning, not when one is added;
    - "porter": porter's version; "scope": "all", "baseline", "staged" or "diff";
    - "files": those with something to tell, by path, each with "path", "findings" (what has to
      go), "suppressed" (what a pragma keeps; each also has "reason") and "known" (what the
      baseline holds);
    - "skipped": paths that were left alone, each with "path", "reason" and "failed";
    - "stale": entries of the baseline without a finding, each with "path", "code", "source" and
      "count";
    - "summary": the counts "scanned", "findings", "suppressed", "known", "stale", "fixed" and
      "errors".

    A finding has the keys that `porter rewrite --format json` gives it; its level is "rewritten"
    where porter can port it, "manual" where a person has to, "error" where the file could not be
    processed.
    """
    files = [v for v in report.verdicts if v.findings or v.suppressed or v.known]
    stale = [
        {"path": name, "code": code, "source": source, "count": count}
        for name, entries in report.stale.items()
        for (code, source), count in sorted(entries.items())
    ]
    document = {
        "version": 1,
        "porter": porter.__version__,
        "scope": report.scope,
        "files": [
            {
                "path": verdict.path,
                "findings": [_fields(f) for f in verdict.findings],
                "suppressed": [
                    _fields(s.finding) | {"reason": s.reason} for s in verdict.suppressed
                ],
                "known": [_fields(f) for f in verdict.known],
            }
            for verdict in files
        ],
        "skipped": [asdict(skipped) for skipped in report.skipped],
        "stale": stale,
        "summary": {
            "scanned": len(report.verdicts),
            "findings": len(report.findings),
            "suppressed": sum(len(v.suppressed) for v in report.verdicts),
            "known": sum(len(v.known) for v in report.verdicts),
            "stale": sum(counts.total() for counts in report.stale.values()),
            "fixed": report.fixed,
            "errors": report.errors,
        },
    }
    return json.dumps(document, indent=2)


def _fields(finding: Finding) -> dict[str, Any]:
    return asdict(finding) | {"level": finding.level.value}


def github_lines(report: CheckReport) -> Iterator[str]:
    """Yield GitHub Actions' workflow commands that annotate the lines of a pull request."""
    for verdict in report.verdicts:
        for finding in verdict.findings:
            place = {
                "file": verdict.path.replace("\\", "/"),
                "line": finding.line,
                "endLine": finding.end_line,
                "col": finding.column,
                "endColumn": finding.end_column,
                "title": f"porter {finding.code}",
            }
            if finding.end_line != finding.line:  # GitHub takes columns within one line only
                del place["col"], place["endColumn"]
            properties = ",".join(f"{k}={_escaped(str(v), ':,')}" for k, v in place.items())
            yield f"::error {properties}::{_escaped(told(finding))}"
    for name, entries in report.stale.items():
        for code, source in sorted(entries):
            text = f"stale in {report.baseline}: {code} {source}"
            yield f"::error file={_escaped(name, ':,')},title=porter baseline::{_escaped(text)}"


def _escaped(text: str, more: str = "") -> str:
    return "".join(f"%{ord(c):02X}" if c in f"%\r\n{more}" else c for c in text)
