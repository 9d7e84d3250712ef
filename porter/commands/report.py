"""`porter report`: how portable a repository is, for those who decide on its port."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from porter import progress, run
from porter.commands import examples, options
from porter.commands.vendor import shim_in
from porter.discover import discover
from porter.errors import Refused
from porter.model import Options, Shim
from porter.pages import html
from porter.pages import output as target
from porter.pages.portability import Portability, as_json, portability
from porter.report import Report
from porter.settings import resolve

_STYLES = {".html": "html", ".htm": "html", ".json": "json", ".md": "md"}
"""What the name of the file to write asks for."""


@click.command(
    short_help="Tell how portable a repository is.",
    epilog=examples(
        "porter report .                    as Markdown",
        "porter report . -o report.html     a page to look through: figures, findings, diffs",
        "porter report src --format json    for programs",
    ),
)
@click.argument(
    "paths",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, path_type=Path),
    metavar="PATH...",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(["html", "md", "json"]),
    help="By default what FILE's name ends in, and md without it.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write FILE instead of printing.",
)
@options.selection
def report(
    paths: Sequence[Path],
    style: str | None,
    output: Path | None,
    select: Sequence[str],
    ignore: Sequence[str],
    exclude: Sequence[str],
    jobs: int | None,
) -> int:
    """Tell how portable the files at and below each PATH are.

    Told is what porter ports, what needs a person, and what blocks the port; nothing is written
    but FILE. The page needs plotly: pip install 'porter-codemod[report]'.
    """
    style = style or _style_of(output)
    if output is not None:
        target.require(output)
    if style == "html":
        html.require_plotly()
    settings = resolve(paths, select=select, ignore=ignore, exclude=exclude, jobs=jobs)
    found = discover(paths, settings.exclusions)
    for refusal in found.refusals:
        click.echo(f"note: {refusal}; all its files are looked at, ignored ones too", err=True)
    scanned = run.scan(found.files, settings.jobs)
    outcome = Report(len(found.files), skipped=found.skipped)
    for file in scanned.unreadable:
        outcome.add(file)
    shim = shim_in(settings.vendor) if settings.vendor else Shim()
    chosen = Options(settings.select, settings.ignore, shim)
    outcomes = run.preview(scanned, chosen, settings.jobs, settings.per_file)
    for file in progress.watched(outcomes, len(scanned.hits), "looking"):
        outcome.add(file)
    outcome.files.sort(key=lambda file: os.fsencode(file.path))
    text = _rendered(portability(outcome, paths), style)
    if output is None:
        click.echo(text, nl=False)
    else:
        target.write(output, text)
    return 2 if outcome.summary().errors else 0


def _style_of(output: Path | None) -> str:
    if output is None:
        return "md"
    style = _STYLES.get(output.suffix.lower())
    if style is None:
        raise Refused(f"{output} ends in none of {', '.join(_STYLES)}: give --format as well")
    return style


def _rendered(portability: Portability, style: str) -> str:
    if style == "html":
        from porter.pages.portability_page import portability_page

        return portability_page(portability)
    if style == "json":
        return as_json(portability) + "\n"
    from porter.pages.markdown import as_markdown

    return as_markdown(portability)
