"""`porter check`: find what is hard-coded for CUDA, by default only where it is new."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from porter import progress, render
from porter.check import targets
from porter.commands import examples
from porter.commands.options import Command, configuration, selection
from porter.commands.vendor import copy_shim, shim_in
from porter.errors import Refused
from porter.model import Options, Shim
from porter.settings import Settings, resolve

if TYPE_CHECKING:
    from porter.check.report import CheckReport

_FROM_REF = "PRE_COMMIT_FROM_REF"
"""Where pre-commit says what the commits to be pushed start from."""


def _scope_options(command: Command) -> Command:
    for option in (
        click.option("--write-baseline", is_flag=True, help="Write FILE; shrink one that exists."),
        click.option("--strict-baseline", is_flag=True, help="Fail on entries that are gone."),
        click.option(
            "--baseline",
            metavar="FILE",
            type=click.Path(dir_okay=False, path_type=Path),
            help="Judge whole files, but leave out what FILE holds.",
        ),
        click.option(
            "--diff-base", metavar="REV", help="Judge what was added since the branch left REV."
        ),
        click.option("--staged", is_flag=True, help="Judge what is staged, be it nothing."),
        click.option("--all", "everything", is_flag=True, help="Judge whole files."),
    ):
        command = option(command)
    return command


@click.command(
    short_help="Find what is hard-coded for CUDA where it is new.",
    epilog=examples(
        "porter check                                what is staged; if nothing is, everything",
        "porter check --all src                      everything",
        "porter check --diff-base origin/main        what the branch adds",
        "porter check --baseline .porter.json --write-baseline   begin with what is there today",
        "porter check --all --format sarif > porter.sarif",
    )
    + "\n\nExit codes: 0 nothing found; 1 findings; 2 usage error, or a file that could not be "
    "processed.",
)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="[FILES]...")
@_scope_options
@selection
@configuration
@click.option("--fix", is_flag=True, help="Port what was found, as porter rewrite would.")
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "json", "github", "sarif", "junit"]),
    default="text",
    show_default=True,
    help="How to report.",
)
@click.option("--statistics", is_flag=True, help="Count the findings by code; don't list them.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 though there are findings.")
def check(
    files: Sequence[Path],
    everything: bool,
    staged: bool,
    diff_base: str | None,
    baseline: Path | None,
    strict_baseline: bool,
    write_baseline: bool,
    select: Sequence[str],
    ignore: Sequence[str],
    exclude: Sequence[str],
    jobs: int | None,
    configs: bool,
    fix: bool,
    style: str,
    statistics: bool,
    exit_zero: bool,
) -> int:
    """Find what is hard-coded for CUDA in FILES and folders, by default the current one.

    Python, Jupyter notebooks and configuration are looked at. Of files in git with anything
    staged, only the staged lines are judged, in their staged content: nobody is held to account
    for what was there before. A comment `# porter: ignore[PTR101] why` keeps a line as it is,
    `# porter: skip-file why` a file. Nothing is written without --fix or --write-baseline.
    """
    from porter.check.judge import judge
    from porter.check.report import CheckReport

    paths = list(files) or [Path()]
    chosen = {"--all": everything, "--staged": staged, "--diff-base": diff_base is not None}
    chosen["--baseline"] = baseline is not None
    _at_most_one([name for name, given in chosen.items() if given])
    settings = resolve(
        paths, select=select, ignore=ignore, exclude=exclude, jobs=jobs, baseline=baseline
    )
    compared = settings.baseline if baseline or not any(chosen.values()) else None
    if (strict_baseline or write_baseline) and compared is None:
        raise Refused("--strict-baseline and --write-baseline go with --baseline FILE")
    scope = _scope(
        paths,
        settings,
        everything=everything,
        staged=staged,
        diff_base=diff_base,
        compared=compared,
    )
    shim = shim_in(settings.vendor) if settings.vendor else Shim()
    options = Options(settings.select, settings.ignore, shim, configs)
    verdicts = list(
        progress.watched(
            judge(
                scope.targets,
                options,
                settings.per_file,
                settings.jobs,
                with_fixes=style == "sarif",
            ),
            len(scope.targets),
            "checking",
        )
    )
    report = CheckReport(scope.kind, verdicts, scope.found.skipped, compared)
    if compared is not None:
        from porter.check.compare import compare

        compare(report, paths, options, write=write_baseline, strict=strict_baseline)
    if fix:
        from porter.check.fix import fix_all

        fix_all(report, options, settings.per_file, lambda: copy_shim(settings.vendor))
    _print(report, style, statistics=statistics)
    return report.exit_code(exit_zero=exit_zero)


def _at_most_one(given: Sequence[str]) -> None:
    if len(given) > 1:
        raise click.UsageError(f"{' and '.join(given)} exclude each other")


def _scope(
    paths: Sequence[Path],
    settings: Settings,
    *,
    everything: bool,
    staged: bool,
    diff_base: str | None,
    compared: Path | None,
) -> targets.Scope:
    """Decide what is judged."""
    missing = [path for path in paths if not os.path.lexists(path)]
    exclusions = settings.exclusions
    if not (everything or compared or diff_base is not None):
        found = targets.staged(paths, exclusions, only_if_any=not staged)
        if found is not None:
            names = {target.root / target.name for target in found.targets}
            _require([p for p in missing if Path(os.path.realpath(p)) not in names])
            return found
        diff_base = os.environ.get(_FROM_REF)
    _require(missing)
    if diff_base is not None:
        return targets.since(paths, exclusions, diff_base)
    return targets.everything(paths, exclusions, "baseline" if compared else "all")


def _require(missing: Sequence[Path]) -> None:
    if missing:
        raise Refused(f"there is no {render.shown(str(missing[0]))}")


def _print(report: CheckReport, style: str, *, statistics: bool) -> None:
    from porter.check import text

    for line in render.skipped_lines(report.skipped):
        _say(line)
    listed = text.statistics(report) if statistics else text.lines(report)
    if style == "text":
        color = False if os.environ.get("NO_COLOR") else None
        for line in [*listed, *text.summary(report)]:
            click.echo(line, color=color)
        return
    for line in _for_programs(report, style):
        click.echo(line)
    if statistics:
        for line in listed:
            _say(line)


def _for_programs(report: CheckReport, style: str) -> Iterator[str]:
    """Yield the report in one of the formats, each of which costs its own imports."""
    if style == "sarif":
        from porter.check.sarif import as_sarif

        yield as_sarif(report)
    elif style == "junit":
        from porter.check.junit import as_junit

        yield as_junit(report)
    else:
        from porter.check import machine

        if style == "json":
            yield machine.as_json(report)
        else:
            yield from machine.github_lines(report)


def _say(message: str) -> None:
    click.echo(message, err=True)
