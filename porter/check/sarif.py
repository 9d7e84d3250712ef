"""A check's report as SARIF 2.1.0, which code scanning services read.

The specification: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import hashlib
import json
import os
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import porter
from porter.catalogue import Page, catalogue
from porter.check import baseline
from porter.check.judge import Fix, Verdict
from porter.check.report import CheckReport, told
from porter.model import IDLE_PRAGMA, UNREADABLE, UNSPOKEN, Finding

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = "ROOT"
_ENGINE = {
    UNREADABLE: ("not-processed", "A file that can't be processed."),
    UNSPOKEN: ("no-rule", "A use of torch.cuda that no rule has an answer for."),
    IDLE_PRAGMA: ("idle-pragma", "A pragma that keeps nothing, or can't be read."),
}

Json = dict[str, Any]


def as_sarif(report: CheckReport) -> str:
    """Return the report as a SARIF log with one run.

    Findings that a pragma keeps, or that the baseline holds, are results with a suppression.
    Paths are relative to the working directory, which the log names.
    """
    rules = [*(_own_rule(*entry) for entry in _ENGINE.items()), *map(_rule, catalogue())]
    index = {rule["id"]: number for number, rule in enumerate(rules)}
    results: list[Json] = []
    for verdict in report.verdicts:
        results += _results(verdict, index, compared=report.baseline is not None)
    notices = [
        {"level": "error", "message": {"text": f"{_text(s.path)}: {s.reason}"}}
        for s in report.skipped
        if s.failed
    ]
    invocation = {"executionSuccessful": not report.errors, "toolExecutionNotifications": notices}
    run = {
        "tool": {"driver": {"name": "porter", "version": porter.__version__, "rules": rules}},
        "invocations": [invocation],
        "originalUriBaseIds": {_ROOT: {"uri": f"{Path.cwd().as_uri()}/"}},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(rule: Page) -> Json:
    before, after = rule.rewrites[0] if rule.rewrites else ("", "")
    example = f"\n\nBefore:\n\n{_block(before)}\n\nAfter:\n\n{_block(after)}" if before else ""
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.doc},
        "help": {"text": f"{rule.doc}{example}", "markdown": f"{rule.doc}{example}"},
        "defaultConfiguration": {"level": "error"},
    }


def _block(example: str) -> str:
    return textwrap.indent(textwrap.dedent(example).strip("\n"), "    ")


def _own_rule(code: str, words: tuple[str, str]) -> Json:
    name, text = words
    return {
        "id": code,
        "name": name,
        "shortDescription": {"text": text},
        "defaultConfiguration": {"level": "error"},
    }


def _results(verdict: Verdict, index: dict[str, int], *, compared: bool) -> list[Json]:
    """Return a file's results; `compared` says that there is a baseline."""
    results = []
    fixes = verdict.fixes or ((),) * len(verdict.findings)
    for finding, fix in zip(verdict.findings, fixes, strict=True):
        result = _result(verdict, finding, index)
        if compared:
            result["baselineState"] = "new"
        if fix:
            result["fixes"] = [_fix(verdict, fix)]
        results.append(result)
    for finding in verdict.known:
        suppression = {"kind": "external", "justification": "in the baseline"}
        result = _result(verdict, finding, index)
        results.append(result | {"baselineState": "unchanged", "suppressions": [suppression]})
    for each in verdict.suppressed:
        suppression = {"kind": "inSource"}
        if each.reason:
            suppression["justification"] = _text(each.reason)
        results.append(_result(verdict, each.finding, index) | {"suppressions": [suppression]})
    _tell_apart(results)
    return results


def _result(verdict: Verdict, finding: Finding, index: dict[str, int]) -> Json:
    region: Json = {
        "startLine": finding.line,
        "startColumn": finding.column,
        "endLine": finding.end_line,
        "endColumn": finding.end_column,
    }
    if finding.source:
        region["snippet"] = {"text": _text(finding.source)}
    location: Json = {
        "physicalLocation": {"artifactLocation": _location(verdict), "region": region}
    }
    if finding.cell is not None:
        location["logicalLocations"] = [
            {"name": f"cell {finding.cell.number}", "fullyQualifiedName": finding.place}
        ]
    # What it is known by stays the same when code above it moves.
    digest = hashlib.sha256(repr(baseline.key(finding)).encode("utf-8", "surrogatepass"))
    return {
        "ruleId": finding.code,
        "ruleIndex": index[finding.code],
        "level": "error",
        "message": {"text": _text(told(finding)) or finding.code},
        "locations": [location],
        "partialFingerprints": {"porterSourceLine/v1": digest.hexdigest()},
    }


def _tell_apart(results: Sequence[Json]) -> None:
    """Number the results of a file that have the same fingerprint."""
    seen: dict[str, int] = {}
    for result in results:
        prints = result["partialFingerprints"]
        for name, digest in prints.items():
            seen[digest] = seen.get(digest, 0) + 1
            prints[name] = f"{digest}:{seen[digest]}"


def _fix(verdict: Verdict, fixes: Sequence[Fix]) -> Json:
    replacements = [
        {
            "deletedRegion": {
                "startLine": fix.line,
                "startColumn": fix.column,
                "endLine": fix.end_line,
                "endColumn": fix.end_column,
            },
            "insertedContent": {"text": _text(fix.text)},
        }
        for fix in fixes
    ]
    change = {"artifactLocation": _location(verdict), "replacements": replacements}
    return {
        "description": {"text": "Port it, as porter rewrite does."},
        "artifactChanges": [change],
    }


def _location(verdict: Verdict) -> Json:
    path = Path(verdict.path)
    if path.is_absolute():
        return {"uri": path.as_uri()}
    return {"uri": quote(os.fsencode(path.as_posix())), "uriBaseId": _ROOT}


def _text(text: str) -> str:
    """Return text without lone surrogates, which not every reader of JSON takes."""
    return text.encode("utf-8", "replace").decode("utf-8")
