"""`porter check --fix`: porter's rewrite of the lines that were flagged, and of no others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from porter import readers, write
from porter.check.judge import Verdict, read
from porter.check.report import CheckReport
from porter.model import Finding, Level, Options
from porter.report import error
from porter.settings import PerFile

_UNSTAGED = "not fixed: it has changes that are not staged; stage or stash them, and run again"


def fix_all(
    report: CheckReport, options: Options, per_file: PerFile, before_write: Callable[[], object]
) -> None:
    """Port the flagged sites of a report in the work tree, and take them out of it.

    What belongs together with a site that was not flagged is left, as a half port would be worse.

    Args:
        report: what was found.
        options: which rules, and how ported code imports the shim.
        per_file: which rules are left out in which files.
        before_write: called before a file is written.
    """
    for at, verdict in enumerate(report.verdicts):
        target = verdict.target
        own = per_file.options(options, target.root / target.name, target.root)
        report.verdicts[at], fixed = _fix(verdict, own, before_write)
        report.fixed += fixed


def _fix(
    verdict: Verdict, options: Options, before_write: Callable[[], object]
) -> tuple[Verdict, int]:
    """Port the flagged sites of one file; return what is left, and the number of the others."""
    wanted = {_place(f) for f in verdict.findings if f.level is Level.REWRITTEN}
    if not wanted:
        return verdict, 0
    target = verdict.target
    try:
        data = target.path.read_bytes()
        if _lines(data) != _lines(read(target)):
            return _with(verdict, error(_UNSTAGED)), 0
        rewrite = readers.rewrite(
            data,
            kind=target.kind,
            name=target.name,
            options=options,
            only=lambda f: _place(f) in wanted,
        )
        if rewrite.failed:
            return _with(verdict, *(f for f in rewrite.findings if f.level is Level.ERROR)), 0
        if rewrite.output != data:
            with write.signals_held():
                before_write()
                write.replace(target.path, rewrite.output, read=write.digest(data))
    except (OSError, write.WriteError) as problem:
        return _with(verdict, error(f"not fixed: {problem}")), 0
    left = {_place(f): f for f in rewrite.findings if f.level is not Level.REWRITTEN}
    findings = tuple(
        left.get(_place(f), f)
        for f in verdict.findings
        if f.level is not Level.REWRITTEN or _place(f) in left
    )
    return replace(verdict, findings=findings, fixes=()), len(verdict.findings) - len(findings)


def _place(finding: Finding) -> tuple[int, int, str]:
    return finding.line, finding.column, finding.code


def _lines(data: bytes) -> bytes:
    """Return a content as git compares it where it converts line ends."""
    return data.replace(b"\r\n", b"\n")


def _with(verdict: Verdict, *findings: Finding) -> Verdict:
    return replace(verdict, findings=(*verdict.findings, *findings), fixes=())
