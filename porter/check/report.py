"""The outcome of a check, whatever it is printed as."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from porter.check.judge import Verdict
from porter.discover import Skipped
from porter.model import Finding, Level

if TYPE_CHECKING:
    from porter.check.baseline import Key


@dataclass
class CheckReport:
    """What was judged, and what was found.

    Attributes:
        scope: "all", "baseline", "staged" or "diff" (see `porter.check.targets.Scope`).
        verdicts: the judged files, by path.
        skipped: paths that were left alone, and why.
        baseline: the baseline file, where there is one.
        stale: its entries that no finding has any more, by file; empty unless asked for.
        fixed: how many findings were fixed.
    """

    scope: str
    verdicts: list[Verdict]
    skipped: Sequence[Skipped] = ()
    baseline: Path | None = None
    stale: Mapping[str, Counter[Key]] = field(default_factory=dict)
    fixed: int = 0

    @property
    def findings(self) -> list[tuple[Verdict, Finding]]:
        """What has to go, with its file; errors are not among them."""
        return [(v, f) for v in self.verdicts for f in v.findings if f.level is not Level.ERROR]

    @property
    def errors(self) -> int:
        """How many paths could not be processed."""
        return sum(v.failed for v in self.verdicts) + sum(s.failed for s in self.skipped)

    def exit_code(self, *, exit_zero: bool) -> int:
        """Return 2 where something could not be processed, 1 where something was found, else 0.

        A fix in the work tree doesn't mend what is staged.
        """
        if self.errors:
            return 2
        unstaged = self.fixed if self.scope == "staged" else 0
        return int(bool(self.findings or self.stale or unstaged) and not exit_zero)


def told(finding: Finding) -> str:
    """Return a finding's message, with its cell, and with what to write where porter knows it."""
    cell = finding.cell
    text = f"cell {cell.number}, line {cell.line}: " if cell else ""
    text += finding.message
    if finding.level is Level.REWRITTEN and finding.replacement is not None:
        text += f" Write: {' '.join(finding.replacement.split())}"
    return text
