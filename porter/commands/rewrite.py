"""`porter rewrite`: port what is below some paths, or show what that would change."""

from __future__ import annotations

import dataclasses
import functools
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from porter import git, kinds, progress, render, run, undo
from porter.commands import examples, options
from porter.commands.vendor import copy_shim, shim_in
from porter.discover import Discovery, File, discover
from porter.errors import Refused
from porter.model import Options, Shim
from porter.report import Report
from porter.settings import resolve

_LISTED = 5
"""How many files a message names before it only counts."""


@click.command(
    short_help="Port files in place, or show the port as a diff.",
    epilog=examples(
        "porter rewrite --dry-run .                  show the port",
        "porter rewrite --dry-run . | git apply      the same as: porter rewrite .",
        "porter rewrite src --vendor src/mypackage   no new dependency",
        "porter rewrite . --select PTR1 --exclude 'tests/'",
    ),
)
@click.argument(
    "paths",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, path_type=Path),
    metavar="PATH...",
)
@click.option("--dry-run", is_flag=True, help="Print a diff for `git apply`; write nothing.")
@options.selection
@options.configuration
@click.option(
    "--vendor",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Copy the shim into the package DIR and import it from there.",
)
@click.option("--allow-dirty", is_flag=True, help="Go on although files have uncommitted changes.")
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to report.",
)
@click.option(
    "--report",
    "page",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a page too, to look through in a browser: see `porter report`.",
)
@click.option("-v", "--verbose", is_flag=True, help="List the rewritten sites too.")
def rewrite(
    paths: Sequence[Path],
    dry_run: bool,
    select: Sequence[str],
    ignore: Sequence[str],
    exclude: Sequence[str],
    configs: bool,
    vendor: Path | None,
    jobs: int | None,
    allow_dirty: bool,
    style: str,
    page: Path | None,
    verbose: bool,
) -> int:
    """Port the code at and below each PATH from CUDA to the device that is there.

    Code is Python and Jupyter notebooks; what configuration says of CUDA is listed. Sites that
    take a decision are left and listed, with what to do. Files change one at a time, whole or not
    at all. Each option but --dry-run, --configs, --allow-dirty, --format, --report and
    --verbose can stand in pyproject.toml, as a key of [tool.porter].
    """
    if page is not None:
        _require_page(page)
    settings = resolve(
        paths, select=select, ignore=ignore, exclude=exclude, jobs=jobs, vendor=vendor
    )
    shim = shim_in(settings.vendor) if settings.vendor else Shim()
    found = discover(paths, settings.exclusions)
    if not dry_run and not allow_dirty:
        _require_clean(found, configs=configs)
    for refusal in found.refusals:
        _say(f"note: {refusal}; all its files are looked at, ignored ones too")
    scanned = run.scan(found.files, settings.jobs)
    report = Report(len(found.files), skipped=found.skipped)
    for file in scanned.unreadable:
        report.add(file)
    chosen = Options(settings.select, settings.ignore, shim, configs)
    if dry_run:
        outcomes = run.preview(scanned, chosen, settings.jobs, settings.per_file)
    else:
        _warn_of_no_undo([hit for hit in scanned.hits if kinds.is_written(hit.kind, configs)])
        outcomes = run.apply(
            scanned,
            chosen,
            settings.jobs,
            settings.per_file,
            before_first=functools.partial(copy_shim, settings.vendor),
        )
    prints_diff = dry_run and style == "text"
    if not (prints_diff and sys.stdout.isatty()):
        outcomes = progress.watched(outcomes, len(scanned.hits))
    try:
        for file in outcomes:
            if prints_diff:
                click.echo(file.diff, nl=False)
                if page is None:
                    file = dataclasses.replace(file, diff=b"")  # printed: no need to hold it
            report.add(file)
    except KeyboardInterrupt:
        changed = 0 if dry_run else report.summary().changed
        _say(f"interrupted: {render.counted(changed, 'file')} written, each of them whole")
        raise
    report.files.sort(key=lambda file: os.fsencode(file.path))
    _print(report, dry_run=dry_run, style=style, verbose=verbose)
    if page is not None:
        _write_page(page, report, paths, applied=not dry_run)
    if dry_run:
        _say_where_to_apply(report, found.files)
    if dry_run and settings.vendor and report.summary().changed:
        _say(f"the shim would be copied into {settings.vendor}")
    return 2 if report.summary().errors else 0


def _say(message: str) -> None:
    click.echo(message, err=True)


def _require_clean(found: Discovery, *, configs: bool) -> None:
    files = [file for file in found.files if kinds.is_written(file.kind, configs)]
    found = dataclasses.replace(found, files=files)
    try:
        dirty = undo.uncommitted(found)
    except git.GitError as error:
        raise Refused(f"{error}: what is uncommitted is unknown; --allow-dirty goes on") from error
    if dirty:
        raise Refused(
            "these files have changes that are not committed, and a port would mix with them:\n"
            + "".join(f"  {render.shown(path)}\n" for path in dirty[:_LISTED])
            + (f"  and {len(dirty) - _LISTED} more\n" if len(dirty) > _LISTED else "")
            + "Commit or stash them first; --dry-run shows the port, --allow-dirty goes on."
        )


def _warn_of_no_undo(hits: Sequence[File]) -> None:
    alone = [file for file in hits if not file.in_git]
    if alone:
        example = render.shown(str(alone[0].path))
        _say(f"note: no git can undo changes to {len(alone)} of the files, {example} for one")


def _print(report: Report, *, dry_run: bool, style: str, verbose: bool) -> None:
    if style == "json":
        click.echo(render.as_json(report, dry_run=dry_run))
        return
    for line in render.skipped_lines(report.skipped):
        _say(line)
    lines = [
        *render.finding_lines(report, verbose=verbose),
        *render.summary_lines(report.summary(), dry_run=dry_run),
    ]
    click.echo("\n".join(lines), err=dry_run)


def _require_page(page: Path) -> None:
    from porter.pages import html, output

    if page.suffix.lower() not in {".html", ".htm"}:
        raise Refused(f"--report writes HTML: {page} has to end in .html")
    html.require_plotly()
    output.require(page)


def _write_page(page: Path, report: Report, paths: Sequence[Path], *, applied: bool) -> None:
    from porter.pages import output
    from porter.pages.portability import portability
    from porter.pages.portability_page import portability_page

    output.write(page, portability_page(portability(report, paths, applied=applied)))
    _say(f"the report is in {render.shown(str(page))}")


def _say_where_to_apply(report: Report, files: Sequence[File]) -> None:
    """Tell the folders that the diff's names are relative to, where they aren't obvious."""
    changed = {file.path for file in report.files if file.changed}
    roots = sorted({file.root for file in files if str(file.path) in changed})
    if roots and roots != [Path(os.path.realpath("."))]:
        named = " and ".join(render.shown(str(root)) for root in roots)
        _say(f"paths in the diff are relative to {named}")
