"""A check against a baseline: what is known is no finding."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from porter.check import baseline
from porter.check.report import CheckReport
from porter.model import Options
from porter.render import counted, shown


def compare(
    report: CheckReport, scopes: Sequence[Path], options: Options, *, write: bool, strict: bool
) -> None:
    """Take out of a report what its baseline holds.

    Args:
        report: what was found; it has a baseline.
        scopes: the files and folders that were judged.
        options: which rules were asked.
        write: make the baseline where there is none, else take out of it what is gone.
        strict: report what is gone.

    Raises:
        Refused: the baseline can't be read or written.
    """
    path = report.baseline
    assert path is not None
    if write and not path.exists():
        known = baseline.of(path, report.verdicts)
        known.write()
    else:
        known = baseline.Baseline.load(path)
        known.follow_renames(report.verdicts)
    report.verdicts = [known.split(verdict) for verdict in report.verdicts]
    stale = known.stale(report.verdicts, scopes, options)
    if write:
        known = known.without(stale)
        known.write()
        number = sum(counts.total() for counts in known.files.values())
        held = f"{counted(number, 'finding')} in {counted(len(known.files), 'file')}"
        click.echo(f"{shown(str(path))} holds {held}", err=True)
    elif strict:
        report.stale = stale
