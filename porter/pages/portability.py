"""How portable a repository is: what a report tells as a page, as Markdown and as JSON."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePath
from typing import Any

import porter
from porter.discover import Skipped
from porter.engine.source import Source
from porter.model import Finding
from porter.pages.excerpt import Excerpt, excerpt, load, shortened
from porter.pages.states import Counts, State
from porter.pages.subjects import Subject, subjects
from porter.report import FileReport, Report


@dataclass(frozen=True)
class Site:
    """A finding as it is shown.

    `line` is the line in the file, `place` what a reader calls it ("12:5", "cell 3:2:5"); `mark`
    holds the columns of `source`, from 0, between which the site lies.
    """

    code: str
    state: State
    message: str
    place: str
    line: int
    end_line: int
    source: str
    mark: tuple[int, int]
    replacement: str | None
    excerpt: Excerpt | None


@dataclass(frozen=True)
class FileEntry:
    """A file with something to tell; `path` is relative to the root."""

    path: str
    counts: Counts
    changed: bool
    diff: str
    sites: tuple[Site, ...]


@dataclass(frozen=True)
class Folder:
    """The sum over all files below a folder; `path` is relative to the root, itself ""."""

    path: str
    counts: Counts


@dataclass(frozen=True)
class Portability:
    """The report.

    Attributes:
        name: what the repository is called.
        root: the folder that paths are relative to, as the user calls it.
        applied: whether the port was written; then the files' diffs are empty.
        scanned: how many files were looked at.
        counts: of all findings.
        subjects: the rules with findings, by what they are about.
        folders: those that hold a file with findings, and all above them, by path.
        files: those with findings or changes, by path.
        skipped: paths that were left alone.
    """

    name: str
    root: str
    applied: bool
    scanned: int
    counts: Counts
    subjects: tuple[Subject, ...]
    folders: tuple[Folder, ...]
    files: tuple[FileEntry, ...]
    skipped: tuple[Skipped, ...]

    @property
    def with_sites(self) -> int:
        """How many files hold a site."""
        return sum(1 for file in self.files if file.counts.sites)

    @property
    def done(self) -> int:
        """How many files hold sites, all of which porter ports."""
        return sum(1 for file in self.files if file.counts.sites and not file.counts.left)


def portability(report: Report, paths: Sequence[Path], *, applied: bool = False) -> Portability:
    """Sum a run up.

    Args:
        report: the run's outcome, with diffs unless it was applied.
        paths: what the run was about, as the user gave it.
        applied: whether the port was written.
    """
    root = _root(paths)
    files = tuple(_file(file, root, applied=applied) for file in report.files)
    by_code: defaultdict[str, list[State]] = defaultdict(list)
    by_folder = defaultdict(Counts, {"": Counts()})
    for file in files:
        for site in file.sites:
            by_code[site.code].append(site.state)
        for folder in _above(file.path):
            by_folder[folder] += file.counts
    return Portability(
        name=Path(os.path.realpath(root)).name or root,
        root=root,
        applied=applied,
        scanned=report.scanned,
        counts=by_folder[""],
        subjects=subjects({code: Counts.of(states) for code, states in by_code.items()}),
        folders=tuple(Folder(path, by_folder[path]) for path in sorted(by_folder)),
        files=files,
        skipped=tuple(report.skipped),
    )


def document(portability: Portability) -> dict[str, Any]:
    """Return the report as JSON has it.

    The keys are those of `Portability` and the classes in it, and besides "version" (1; it grows
    when a key goes or changes its meaning), "porter" (porter's version), and "with_sites" and
    "done", the numbers of files with sites, and of those whose sites are all ported. A site's
    "state" is "ported", "person", "blocked", "note" or "error" (see `porter.pages.states`). Bytes
    of paths and diffs that are not UTF-8 are lone surrogates, as Python's "surrogateescape" makes
    them.
    """
    return {
        "version": 1,
        "porter": porter.__version__,
        **asdict(portability),
        "with_sites": portability.with_sites,
        "done": portability.done,
    }


def as_json(portability: Portability) -> str:
    """Return the report as one JSON document, in ASCII; see `document`."""
    return json.dumps(document(portability), indent=2)


def _root(paths: Sequence[Path]) -> str:
    folders = [str(path if path.is_dir() else path.parent) for path in paths]
    try:
        return os.path.commonpath(folders) or "."
    except ValueError:  # absolute paths and relative ones
        return os.path.commonpath([os.path.realpath(folder) for folder in folders])


def _above(path: str) -> Iterator[str]:
    """Yield the folders that hold a file, the root ("") last."""
    for parent in PurePath(path).parents:
        yield "" if parent.parent == parent else str(parent)


def _file(file: FileReport, root: str, *, applied: bool) -> FileEntry:
    path = PurePath(file.path)
    as_found = None if applied and file.changed else load(file.path)
    sites = tuple(_site(finding, as_found) for finding in file.findings)
    return FileEntry(
        path=str(path.relative_to(root) if path.is_relative_to(root) else path),
        counts=Counts.of(site.state for site in sites),
        changed=file.changed,
        diff=file.diff.decode("utf-8", "surrogateescape"),
        sites=sites,
    )


def _site(finding: Finding, file: Source | None) -> Site:
    start, end = finding.span
    source, shift = shortened(finding.source, start + 1)
    return Site(
        code=finding.code,
        state=State.of(finding),
        message=finding.message,
        place=finding.place,
        line=finding.line,
        end_line=finding.end_line,
        source=source,
        mark=(start - shift, min(end - shift, len(source))),
        replacement=finding.replacement,
        excerpt=excerpt(file, finding) if file else None,
    )
