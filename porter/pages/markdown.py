"""The portability report as Markdown, for an issue, a pull request or a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from porter import render
from porter.pages.escape import visible
from porter.pages.portability import FileEntry, Portability, Site
from porter.pages.states import Counts, State

_TITLES = {
    State.BLOCKED: "Blocked",
    State.PERSON: "Needs a person",
    State.ERROR: "Not processed",
}
"""What is listed site by site, in this order; the rest is counted, and the diff shows it."""

_MARKUP = re.compile(r"(`[^`]+`)|(?<=[A-Za-z0-9])_(?=[A-Za-z0-9])|([\\`*_\[\]<>&|~])")
"""A code span, which stays, or a character that would be markup."""


def as_markdown(portability: Portability) -> str:
    """Return the report as Markdown: the figures by kind and by file, and what is left to do."""
    return "\n".join(_lines(portability)) + "\n"


def _lines(report: Portability) -> Iterator[str]:
    counts = report.counts
    yield f"# Portability of {_text(report.name)}"
    yield ""
    yield _verdict(counts)
    yield ""
    changed = sum(file.changed for file in report.files)
    yield f"- {render.counted(report.scanned, 'file')} looked at, {report.with_sites} with sites"
    would = "changed" if report.applied else "would change"
    yield f"- {render.counted(changed, 'file')} {would}; {report.done} are done then"
    yield f"- {render.counted(counts.note, 'note')}: recognised and rightly left"
    if report.skipped:
        yield f"- {render.counted(len(report.skipped), 'path')} left out"
    if report.subjects:
        yield from ("", "## What is hard-coded", "", *_head("kind"))
        for subject in report.subjects:
            yield _row(f"**{_text(subject.title)}**", subject.counts)
            for rule in subject.rules:
                yield _row(f"{rule.code} {_text(rule.name)}", rule.counts)
    if report.files:
        yield from ("", "## Where it is", "", *_head("file"))
        for file in report.files:
            yield _row(_code(file.path, in_table=True), file.counts)
    for state, title in _TITLES.items():
        if getattr(counts, state.value):
            yield from ("", f"## {title}")
            yield from _sites(report, state)
    if report.skipped:
        yield from ("", "## Left out", "")
        for skipped in report.skipped:
            yield f"- {_code(skipped.path)}: {_text(skipped.reason)}"


def _verdict(counts: Counts) -> str:
    if counts.share is None:
        return "Nothing here is hard-coded for CUDA."
    share = 100 if counts.share == 1 else min(99, round(100 * counts.share))
    return (
        f"**{share} %** of {render.counted(counts.sites, 'site')} that are hard-coded for CUDA: "
        f"{counts.ported} ported, {counts.person} to decide on, {counts.blocked} blocked."
    )


def _head(first: str) -> tuple[str, str]:
    columns = [first, *(state.value for state in State)]
    return f"| {' | '.join(columns)} |", "|---|" + "---:|" * len(State)


def _row(first: str, counts: Counts) -> str:
    numbers = (str(getattr(counts, state.value) or "") for state in State)
    return f"| {first} | {' | '.join(numbers)} |"


def _sites(report: Portability, state: State) -> Iterator[str]:
    for file in report.files:
        found = [site for site in file.sites if site.state is state]
        if found:
            yield from ("", f"### {_code(_openable(report, file))}")
        for site in found:
            yield from _site(site)


def _openable(report: Portability, file: FileEntry) -> str:
    return str(Path(report.root) / file.path)


def _site(site: Site) -> Iterator[str]:
    yield from ("", f"- {site.place} {site.code}: {_text(site.message)}")
    if site.source.strip():
        yield from ("", f"  {_code(site.source.strip())}")
    if site.replacement is not None:
        yield from ("", f"  Write instead: {_code(' '.join(site.replacement.split()))}")


def _text(text: str) -> str:
    """Return text of which nothing but code between backticks is taken for markup."""
    return _MARKUP.sub(lambda m: f"\\{m[2]}" if m[2] else m[0], visible(text))


def _code(text: str, *, in_table: bool = False) -> str:
    """Return a code span that shows the text as it is."""
    shown = visible(text)
    fence = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    if in_table:
        shown = shown.replace("|", r"\|")
    padding = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{padding}{shown}{padding}{fence}"
