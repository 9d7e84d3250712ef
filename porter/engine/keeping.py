"""Sites that stay as they are because somebody says so: a pragma, or who asked for a part only.

Such a site is neither rewritten nor reported, nothing that it consists of either, and what
belongs together with it is left as well. Everything else in its expression is ported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from porter.engine.findings import import_finding, site_finding
from porter.engine.fragment import Fragment, Outcome
from porter.engine.imports import rewrite_import
from porter.engine.place import LocatedImport
from porter.engine.pragmas import Pragmas
from porter.engine.source import Source
from porter.engine.splice import Change
from porter.engine.vote import Rewriter, settle
from porter.model import Finding, Level, Options, Shim, Suppressed
from porter.rule import Rule

_SHARED = (
    "left, since another name of this statement is kept as it is: give it a statement of its own"
)


class Keeper:
    """Asks of each site of a file whether it is to be kept, and collects what is reported."""

    def __init__(
        self,
        source: Source,
        pragmas: Pragmas,
        options: Options,
        only: Callable[[Finding], bool] | None = None,
    ) -> None:
        """Take the file's pragmas, and the test for what was asked for, None for everything."""
        self.findings: list[Finding] = []
        self.suppressed: list[Suppressed] = []
        self._source = source
        self._pragmas = pragmas
        self._options = options
        self._only = only

    def settle(self, fragments: Sequence[Fragment], alias: str, rewrite: Rewriter) -> list[Outcome]:
        """Rewrite the fragments around the sites that are kept (see `vote.settle`)."""
        outcomes = settle(fragments, alias, rewrite)
        seen = [{site.number for site in outcome.sites} for outcome in outcomes]
        kept = [self._kept(f, o) for f, o in zip(fragments, outcomes, strict=True)]
        hidden = kept
        while any(hidden):
            fragments = [
                replace(f, kept=f.kept | new) if new else f
                for f, new in zip(fragments, hidden, strict=True)
            ]
            outcomes = settle(fragments, alias, rewrite)
            # What a kept site would have replaced comes to light, and is a part of it.
            hidden = [
                frozenset(site.number for site in outcome.sites) - numbers - fragment.kept
                for fragment, outcome, numbers in zip(fragments, outcomes, seen, strict=True)
            ]
        for fragment, outcome, first in zip(fragments, outcomes, kept, strict=True):
            for site in outcome.sites:
                if site.number not in fragment.kept | first:
                    self.findings.append(site_finding(self._source, fragment, site))
        return outcomes

    def _kept(self, fragment: Fragment, outcome: Outcome) -> frozenset[int]:
        """Return the numbers of the sites that are kept."""
        return frozenset(
            site.number
            for site in outcome.sites
            if self._keeps(site_finding(self._source, fragment, site))
        )

    def _keeps(self, finding: Finding) -> bool:
        if not self._options.wants(finding.code):
            return False
        reason = self._pragmas.reason(finding)
        if reason is not None:
            self.suppressed.append(Suppressed(finding, reason))
            return True
        return self._only is not None and not self._only(finding)

    def imports(self, found: LocatedImport, rules: Sequence[Rule], shim: Shim) -> list[Change]:
        """Rewrite an import statement, unless a name in it is kept (see `rewrite_import`)."""
        change, sites = rewrite_import(self._source, found, rules, shim)
        findings = [import_finding(self._source, site) for site in sites]
        left = [finding for finding in findings if not self._keeps(finding)]
        ported = {Level.REWRITTEN}.intersection(f.level for f in findings if f not in left)
        if change is None or not ported:
            self.findings += left
            return [change] if change is not None else []
        for finding in left:
            if finding.level is Level.REWRITTEN:
                finding = replace(finding, level=Level.MANUAL, message=_SHARED, replacement=None)
            self.findings.append(finding)
        return []
