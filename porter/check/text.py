"""A check's report for people: each finding with its source line, a caret and what to write."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator

import click

from porter.check.report import CheckReport
from porter.model import NO_RULES, Finding, Level
from porter.render import counted, shown

_WIDTH = 160
"""Source lines that are longer are cut to the part around the finding."""
_SCOPES = {
    "staged": "in what is staged",
    "diff": "in what was added",
    "baseline": "that the baseline lacks",
    "all": "",
}


def lines(report: CheckReport) -> Iterator[str]:
    """Yield the findings, `path:line:col: CODE message` and what belongs to each."""
    for verdict in report.verdicts:
        for finding in verdict.findings:
            place = f"{shown(verdict.path)}:{finding.place}"
            code = click.style(finding.code, fg="red", bold=True)
            yield f"{click.style(place, bold=True)}: {code} {finding.message}"
            if finding.source.strip():
                yield from _excerpt(finding)
    for name, entries in report.stale.items():
        for (code, source), count in sorted(entries.items()):
            times = f" ({count} times)" if count > 1 else ""
            yield f"{shown(str(report.baseline))}: stale: {shown(name)}: {code} {source}{times}"


def _excerpt(finding: Finding) -> Iterator[str]:
    first, last = finding.span
    start = max(first - _WIDTH // 2, 0) if len(finding.source) > _WIDTH else 0
    source = finding.source[start : start + _WIDTH]
    at = first - start
    mark = source[at : min(last - start, len(source.rstrip()))] or " "
    number = str((finding.cell or finding).line)
    margin = " " * len(number)
    yield f"  {number} | {_printable(source)}"
    carets = click.style("^" * sum(map(_cells, mark)), fg="red", bold=True)
    yield f"  {margin} | {_blank(source[:at])}{carets}"
    if finding.replacement is not None:
        yield f"  {margin} = write {_printable(' '.join(finding.replacement.split()))}"


def _printable(text: str) -> str:
    """Return text that can't steer a terminal."""
    return "".join(c if c.isprintable() or c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


def _blank(text: str) -> str:
    return "".join("\t" if c == "\t" else " " * _cells(c) for c in text)


def _cells(character: str) -> int:
    """Return how many columns of a terminal a character takes."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def statistics(report: CheckReport) -> Iterator[str]:
    """Yield a line for each code: how often, and what the rule is called and says."""
    counts = Counter(finding.code for _, finding in report.findings)
    if not counts:
        return
    from porter.catalogue import catalogue

    rules = {rule.code: rule for rule in catalogue()}
    width = len(str(max(counts.values())))
    for code, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        rule = rules.get(code)
        words = "" if rule is None or code in NO_RULES else f" {rule.name}: {rule.summary}"
        yield f"{count:{width}} {code}{words}"


def summary(report: CheckReport) -> Iterator[str]:
    """Yield the figures, where there is anything to tell."""
    findings = report.findings
    if findings:
        files = counted(len({verdict.path for verdict, _ in findings}), "file")
        where = f" {_SCOPES[report.scope]}" if report.scope != "all" else ""
        yield f"{counted(len(findings), 'finding')} in {files}{where}"
        ready = sum(finding.level is Level.REWRITTEN for _, finding in findings)
        if ready:
            yield f"{counted(ready, 'finding')} to be fixed by `porter check --fix`"
    if report.fixed:
        more = ", in the work tree: stage them to commit them" if report.scope == "staged" else ""
        yield f"{counted(report.fixed, 'finding')} fixed{more}"
    if report.stale:
        number = sum(map(Counter.total, report.stale.values()))
        yield (
            f"{counted(number, 'finding')} of the baseline gone: "
            f"`porter check --baseline {shown(str(report.baseline))} --write-baseline`"
        )
    if report.errors:
        yield f"{counted(report.errors, 'file')} could not be processed"
