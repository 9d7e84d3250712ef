"""Judging: the engine's findings in each target, less those that are not new."""

from __future__ import annotations

import codecs
import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from porter import kinds, readers, run, vendored
from porter.check import added
from porter.check.targets import Target
from porter.engine.pragmas import MARK
from porter.model import Finding, Level, Options, Rewrite, Suppressed
from porter.parallel import Died, ordered_map
from porter.settings import PerFile

_LEFT = frozenset({Level.REWRITTEN, Level.MANUAL, Level.ERROR})


@dataclass(frozen=True)
class Fix:
    """Text to put in the place of a region; lines and columns as in `Finding`."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


@dataclass(frozen=True)
class Verdict:
    """What was found in a target.

    Attributes:
        target: the file.
        findings: what has to go, by place: to be ported, by porter or by hand, or not processed.
        suppressed: what a pragma keeps.
        known: what the baseline holds.
        fixes: for each finding that porter can port, how; only where they were asked for.
    """

    target: Target
    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...] = ()
    known: tuple[Finding, ...] = ()
    fixes: tuple[tuple[Fix, ...], ...] = ()

    @property
    def path(self) -> str:
        """The file's name for the user."""
        return str(self.target.path)

    @property
    def failed(self) -> bool:
        """Whether the file could not be processed."""
        return any(finding.level is Level.ERROR for finding in self.findings)


def judge(
    targets: Sequence[Target],
    options: Options,
    per_file: PerFile,
    jobs: int | None = None,
    *,
    with_fixes: bool = False,
) -> Iterator[Verdict]:
    """Yield what is found in each target, in their order; nothing is written.

    Args:
        targets: what to judge.
        options: which rules, and how ported code imports the shim.
        per_file: which rules are left out in which files.
        jobs: how many processes; None leaves it to the size of the work.
        with_fixes: whether to say how each finding would be ported.
    """
    scanned = [(target, _first_look(target)) for target in targets]
    hits = [target for target, look in scanned if look is None]

    def work(target: Target) -> Verdict:
        own = per_file.options(options, target.root / target.name, target.root)
        return _judge(target, own, with_fixes=with_fixes)

    jobs = run.workers_for(sum(_size(target) for target in hits), jobs)
    with run.collector_off():
        readers.warm_up({target.kind: target.name for target in hits}, options)
        with contextlib.closing(ordered_map(work, hits, jobs)) as results:
            for target, look in scanned:
                if look is not None:
                    yield look
                    continue
                verdict = next(results)
                if isinstance(verdict, Died):
                    verdict = Verdict(target, (run.died(verdict),))
                yield verdict


def read(target: Target) -> bytes:
    """Return the content that is judged.

    Raises:
        OSError: it can't be read.
    """
    return target.data if target.data is not None else target.path.read_bytes()


def _first_look(target: Target) -> Verdict | None:
    """Return a verdict that needs no engine, None where one is needed."""
    try:
        data = read(target)
    except OSError as problem:
        return Verdict(target, (run.unreadable(problem),))
    has_sites = readers.may_have_sites(data, target.kind) or MARK in data
    if data.startswith(vendored.MARK) or not has_sites:
        return Verdict(target, ())
    return None


def _size(target: Target) -> int:
    try:
        return len(target.data) if target.data is not None else target.path.stat().st_size
    except OSError:
        return 0


def _judge(target: Target, options: Options, *, with_fixes: bool) -> Verdict:
    try:
        data = read(target)
        rewrite = readers.rewrite(data, kind=target.kind, name=target.name, options=options)
    except OSError as problem:
        return Verdict(target, (run.unreadable(problem),))
    except Exception as problem:  # a fault of porter's own must not cost the other files
        return Verdict(target, (run.fault(problem),))
    findings = [f for f in rewrite.findings if f.level in _LEFT]
    suppressed = [s for s in rewrite.suppressed if s.finding.level in _LEFT]
    if target.lines is not None:
        text = _lines(data, target.kind)
        new = added.own_lines(data, target.lines)
        findings = [f for f in findings if _is_new(f, new, text)]
        suppressed = [s for s in suppressed if _is_new(s.finding, new, text)]
    fixes = _fixes(target.kind, data, rewrite, findings) if with_fixes else ()
    return Verdict(
        target,
        tuple(map(_explained, findings)),
        tuple(replace(s, finding=_explained(s.finding)) for s in suppressed),
        fixes=fixes,
    )


def _lines(data: bytes, kind: str) -> list[bytes]:
    """Return the lines of a file; those of a notebook that hold code, as that code."""
    if kind == kinds.NOTEBOOK:
        from porter.notebooks import lines_of_code

        return lines_of_code(data)
    return data.splitlines()


def _is_new(finding: Finding, new: frozenset[int], text: Sequence[bytes]) -> bool:
    """Whether one of the lines that a finding is about is new.

    Of a site that porter can rewrite these are the lines that would change: who adds an argument
    to an old call doesn't answer for the call. What can't be processed is always news.
    """
    if finding.level is Level.ERROR:
        return True
    first, last = min(finding.first_line, finding.line), finding.end_line
    if finding.replacement is not None:
        first = finding.first_line
        # The last line ends with the site, which may not be where the line ends.
        after = finding.replacement.splitlines() or [""]
        before = [line.decode("utf-8", "replace") for line in text[first - 1 : last]]
        if before:
            before[-1] = before[-1][: (finding.cell or finding).end_column - 1]
        while len(before) > 1 and len(after) > 1 and before[-1] == after[-1]:
            before.pop()
            after.pop()
        last = first + max(len(before) - 1, 0)
    return any(line in new for line in range(first, last + 1))


def _explained(finding: Finding) -> Finding:
    """Give a finding that porter can port the words of its rule, before a remark of its own."""
    if finding.level is not Level.REWRITTEN:
        return finding
    remark = finding.message[:1].upper() + finding.message[1:]
    return replace(finding, message=f"{_summary(finding.code)} {remark}".rstrip())


@lru_cache
def _summary(code: str) -> str:
    from porter.catalogue import page

    return page(code).summary


def _fixes(
    kind: str, data: bytes, rewrite: Rewrite, findings: Sequence[Finding]
) -> tuple[tuple[Fix, ...], ...]:
    """Return for each finding the changes that port it: its own, and the shim's import."""
    from porter.engine.source import Source

    if not rewrite.changes:
        return tuple(() for _ in findings)
    if kind == kinds.PYTHON:
        source = Source.decode(data)
    else:  # no cookie says anything else
        source = Source(data.removeprefix(codecs.BOM_UTF8), "utf-8", b"")
    regions = [
        (change, Fix(*source.position(change.start), *source.position(change.end), text))
        for change in rewrite.changes
        for text in [change.text.decode("utf-8")]
    ]
    imports = [fix for change, fix in regions if change.kind == "insertion"]

    def of(finding: Finding) -> tuple[Fix, ...]:
        place, end = (finding.line, finding.column), (finding.end_line, finding.end_column)
        own = [
            (change, fix)
            for change, fix in regions
            if change.kind != "insertion"
            and (fix.line, fix.column) <= place
            and end <= (fix.end_line, fix.end_column)
        ]
        if finding.level is not Level.REWRITTEN or not own:
            return ()
        needed = imports if own[0][0].kind == "expression" else []
        return (own[0][1], *needed)

    return tuple(map(of, findings))
