"""A report as text for people, and as JSON for programs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

import porter
from porter import diff
from porter.discover import Skipped
from porter.model import Finding, Level
from porter.report import FileReport, Report, Summary

_ALWAYS = frozenset({Level.MANUAL, Level.ERROR})


def shown(path: str) -> str:
    """Return a path on one line: as it is where it can be printed, else quoted as git does."""
    return path if path.isprintable() else diff.quoted(os.fsencode(path)).decode("ascii")


def finding_lines(report: Report, *, verbose: bool) -> Iterator[str]:
    """Yield `path:line:col: CODE message` for what is left to do, with `verbose` for all sites."""
    for file in report.files:
        for finding in file.findings:
            if verbose or finding.level in _ALWAYS:
                place = f"{shown(file.path)}:{finding.place}"
                yield f"{place}: {finding.code} {_message(finding)}"


def _message(finding: Finding) -> str:
    if finding.level is Level.REWRITTEN and finding.replacement is not None:
        return f"{finding.message}: {' '.join(finding.replacement.split())}"
    return finding.message


def skipped_lines(paths: Iterable[Skipped]) -> Iterator[str]:
    """Yield a line for each path that was left alone."""
    for skipped in paths:
        kind = "error" if skipped.failed else "skipped"
        yield f"{kind}: {shown(skipped.path)}: {skipped.reason}"


def summary_lines(summary: Summary, *, dry_run: bool) -> Iterator[str]:
    """Yield the figures; what is zero and no news is left out."""
    changed = "would change" if dry_run else "changed"
    yield f"{counted(summary.scanned, 'file')} scanned, {summary.changed} {changed}"
    yield f"{counted(summary.rewritten, 'site')} {'to rewrite' if dry_run else 'rewritten'}"
    if summary.notes:
        yield f"{counted(summary.notes, 'site')} rightly left as they are"
    if summary.manual:
        codes = ", ".join(f"{code} {count}" for code, count in summary.manual.items())
        yield f"{counted(sum(summary.manual.values()), 'site')} left to you: {codes}"
    if summary.skipped:
        yield f"{counted(summary.skipped, 'path')} skipped"
    if summary.errors:
        yield f"{counted(summary.errors, 'file')} could not be processed"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where it is one."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def as_json(report: Report, *, dry_run: bool) -> str:
    """Return the report as one JSON document, in ASCII.

    The document is an object with the keys

    - "version": 1; it grows when a key goes or changes its meaning, not when one is added;
    - "porter": porter's version; "dry_run": whether the files were left as they are;
    - "files": those with findings or changes, by path, each with "path", "changed" and
      "findings"; in a dry run also "diff", which is "" where nothing would change;
    - "skipped": paths that were left alone, each with "path", "reason" and "failed";
    - "summary": the counts "scanned", "changed", "rewritten", "notes", "skipped" and "errors",
      and "manual", an object from code to count.

    A finding has "code", "level" ("rewritten", "note", "manual" or "error"), "message", "line",
    "column", "end_line", "end_column" (all from 1, columns in characters, the end exclusive),
    "source" (the site's first line) and "replacement" (null where there is none). "cell" is null
    outside of notebooks; there it is an object with the cell's "number", of all cells from 1, and
    the site's "line", "column", "end_line" and "end_column" in the cell, whose line "source" is,
    while the other places are in the notebook's JSON text. Bytes of paths and diffs that are not
    UTF-8 are lone surrogates, as Python's "surrogateescape" makes them.
    """
    import json

    document = {
        "version": 1,
        "porter": porter.__version__,
        "dry_run": dry_run,
        "files": [_file(file, dry_run=dry_run) for file in report.files],
        "skipped": [asdict(skipped) for skipped in report.skipped],
        "summary": asdict(report.summary()),
    }
    return json.dumps(document, indent=2)


def _file(file: FileReport, *, dry_run: bool) -> dict[str, Any]:
    findings = [asdict(f) | {"level": f.level.value} for f in file.findings]
    entry: dict[str, Any] = {"path": file.path, "changed": file.changed, "findings": findings}
    if dry_run:
        entry["diff"] = file.diff.decode("utf-8", "surrogateescape")
    return entry
