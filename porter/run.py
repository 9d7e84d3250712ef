"""Running the engine over files: what is read, rewritten and written, and by whom.

Workers read and rewrite; the parent alone writes, so that after an interruption it knows what
was written.
"""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from porter import diff, readers, vendored, write
from porter.discover import File
from porter.model import Finding, Level, Options
from porter.parallel import Died, cpu_count, ordered_map
from porter.report import FileReport, error
from porter.settings import PerFile

_ENOUGH_FOR_WORKERS = 2_000_000
"""Bytes with sites below which forking costs more time than it saves."""

_ENOUGH_TO_SHARE = 1_000
"""Files below which forking for the first look costs more time than it saves."""

_SHARE = 50
"""How many files a worker looks at before it answers."""

_NOTHING = PerFile()


@dataclass
class Scan:
    """The first look: the files that may have sites, their bytes in sum, and the unreadable."""

    hits: list[File]
    size: int
    unreadable: list[FileReport]


@dataclass(frozen=True)
class _Rewritten:
    """What a worker answers.

    `output` is None where nothing changed; where it did, either the new bytes and the digest of
    those that were read, or the diff alone.
    """

    findings: tuple[Finding, ...]
    output: bytes | None = None
    read: bytes = b""
    diff: bytes = b""


def scan(files: Sequence[File], jobs: int | None = None) -> Scan:
    """Read each file once, and keep the names of those that may have sites.

    Copies of the shim have none, though they speak of CUDA all the time.

    Args:
        files: what to look at.
        jobs: how many processes; None leaves it to the number of files.
    """
    if jobs is None:
        jobs = cpu_count() if len(files) >= _ENOUGH_TO_SHARE else 1
    shares = [files[at : at + _SHARE] for at in range(0, len(files), _SHARE)]
    found = Scan([], 0, [])
    with contextlib.closing(ordered_map(_first_look, shares, jobs)) as results:
        for share, looks in zip(shares, results, strict=True):
            if isinstance(looks, Died):  # which says nothing about the files
                looks = _first_look(share)
            for file, look in zip(share, looks, strict=True):
                if isinstance(look, Finding):
                    found.unreadable.append(FileReport(str(file.path), (look,)))
                elif look:
                    found.hits.append(file)
                    found.size += look
    return found


def _first_look(files: Sequence[File]) -> list[int | Finding]:
    """Return for each file its size if it may have sites, 0 if not, or why it can't be read."""
    return [_look(file) for file in files]


def _look(file: File) -> int | Finding:
    try:
        data = file.path.read_bytes()
    except OSError as problem:
        return unreadable(problem)
    if data.startswith(vendored.MARK):
        return 0
    return len(data) if readers.may_have_sites(data, file.kind, in_bulk=True) else 0


def preview(
    scanned: Scan, options: Options, jobs: int | None = None, per_file: PerFile = _NOTHING
) -> Iterator[FileReport]:
    """Rewrite the hits in memory; yield a report with a diff for each, in their order.

    Args:
        scanned: what `scan` returned.
        options: which rules, and which shim.
        jobs: how many processes; None leaves it to the size of the work.
        per_file: which rules are left out in which files.
    """
    for file, result in _rewritten(scanned, options, jobs, per_file, with_diff=True):
        yield FileReport(str(file.path), result.findings, result.output is not None, result.diff)


def apply(
    scanned: Scan,
    options: Options,
    jobs: int | None = None,
    per_file: PerFile = _NOTHING,
    before_first: Callable[[], object] = lambda: None,
) -> Iterator[FileReport]:
    """Rewrite the hits in place; yield a report for each, in their order.

    Each file is replaced in one step. A signal that arrives meanwhile takes effect when the
    report has been handed over, so whoever counts the reports knows what was written.

    Args:
        scanned: what `scan` returned.
        options: which rules, and which shim.
        jobs: how many processes; None leaves it to the size of the work.
        per_file: which rules are left out in which files.
        before_first: called before the first file is written; what it raises ends the run.
    """
    written = False
    for file, result in _rewritten(scanned, options, jobs, per_file, with_diff=False):
        if result.output is None:
            yield FileReport(str(file.path), result.findings)
            continue
        with write.signals_held():
            if not written:
                before_first()
                written = True
            yield _write(file, result.findings, result.output, result.read)


def _write(file: File, findings: tuple[Finding, ...], output: bytes, read: bytes) -> FileReport:
    try:
        write.replace(file.path, output, read=read)
    except write.WriteError as problem:
        kept = tuple(f for f in findings if f.level is not Level.REWRITTEN)
        return FileReport(str(file.path), (*kept, error(str(problem))))
    return FileReport(str(file.path), findings, changed=True)


def workers_for(size: int, jobs: int | None) -> int:
    """Return how many processes are worth their start for so many bytes with sites."""
    if jobs is None:
        return cpu_count() if size >= _ENOUGH_FOR_WORKERS else 1
    return jobs


def _rewritten(
    scanned: Scan, options: Options, jobs: int | None, per_file: PerFile, *, with_diff: bool
) -> Iterator[tuple[File, _Rewritten]]:
    """Yield each hit with what became of it in memory."""
    if not scanned.hits:
        return  # and libcst is never imported
    jobs = workers_for(scanned.size, jobs)

    def work(file: File) -> _Rewritten:
        own = per_file.options(options, file.root / file.name, file.root)
        return _rewrite(file, own, with_diff=with_diff)

    with collector_off():
        readers.warm_up({file.kind: file.name for file in scanned.hits}, options)
        with contextlib.closing(ordered_map(work, scanned.hits, jobs)) as results:
            for file, result in zip(scanned.hits, results, strict=True):
                if isinstance(result, Died):
                    result = _Rewritten((died(result),))
                yield file, result


def _rewrite(file: File, options: Options, *, with_diff: bool) -> _Rewritten:
    try:
        data = file.path.read_bytes()
        rewrite = readers.rewrite(data, kind=file.kind, name=file.name, options=options)
    except OSError as problem:
        return _Rewritten((unreadable(problem),))
    except Exception as problem:  # a fault of porter's own must not cost the other files
        return _Rewritten((fault(problem),))
    if rewrite.failed or rewrite.output == data:
        return _Rewritten(rewrite.findings)
    if not with_diff:
        return _Rewritten(rewrite.findings, rewrite.output, write.digest(data))
    text = diff.unified(os.fsencode(file.name), data, rewrite.output)
    return _Rewritten(rewrite.findings, b"", diff=text)


def died(worker: Died) -> Finding:
    """Return the finding for a file whose worker died over it."""
    return error(f"the process that worked on it ended by {worker.reason}")


def unreadable(problem: OSError) -> Finding:
    """Return the finding for a file that can't be read."""
    return error(f"cannot be read: {problem.strerror or problem}")


def fault(problem: Exception) -> Finding:
    """Return the finding for a file over which porter itself failed."""
    import traceback

    frame = traceback.extract_tb(problem.__traceback__)[-1]
    place = f"{Path(frame.filename).name}:{frame.lineno}"
    return error(f"a fault of porter's own, please report it: {problem!r} in {place}")


@contextlib.contextmanager
def collector_off() -> Iterator[None]:
    """Spare imports and walks over syntax trees the search for garbage that they hardly make."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if was_enabled:
            gc.enable()
