"""What a run has to tell: per file, and in sum. Knows nothing of how it is printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from porter.discover import Skipped
from porter.model import UNREADABLE, Finding, Level


@dataclass(frozen=True)
class FileReport:
    """What happened to one file.

    `diff` is what `git apply` would be given, where one was asked for; without having been
    written, such a file counts as changed too.
    """

    path: str
    findings: tuple[Finding, ...] = ()
    changed: bool = False
    diff: bytes = b""

    @property
    def failed(self) -> bool:
        """Whether the file could not be processed."""
        return any(finding.level is Level.ERROR for finding in self.findings)


@dataclass(frozen=True)
class Summary:
    """The figures of a run; `manual` counts by code."""

    scanned: int
    changed: int
    rewritten: int
    notes: int
    manual: dict[str, int]
    skipped: int
    errors: int


@dataclass
class Report:
    """The outcome of a run: how many files were looked at, and those with something to tell."""

    scanned: int
    files: list[FileReport] = field(default_factory=list)
    skipped: Sequence[Skipped] = ()

    def add(self, file: FileReport) -> None:
        """Add a file, unless there is nothing to tell."""
        if file.findings or file.changed:
            self.files.append(file)

    def summary(self) -> Summary:
        """Count."""
        findings = [finding for file in self.files for finding in file.findings]
        levels = Counter(finding.level for finding in findings)
        manual = Counter(f.code for f in findings if f.level is Level.MANUAL)
        failed = sum(skipped.failed for skipped in self.skipped)
        return Summary(
            scanned=self.scanned,
            changed=sum(file.changed for file in self.files),
            rewritten=levels[Level.REWRITTEN],
            notes=levels[Level.NOTE],
            manual=dict(sorted(manual.items())),
            skipped=len(self.skipped) - failed,
            errors=sum(file.failed for file in self.files) + failed,
        )


def error(message: str, line: int = 1, column: int = 1) -> Finding:
    """Return the finding that says that a file could not be processed."""
    return Finding(UNREADABLE, Level.ERROR, message, line, column, line, column)
