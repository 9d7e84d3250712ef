"""The vote on edits that belong together: they change together or not at all.

Fragments are rewritten one by one and can't see each other. So a rule that ports half of a pair
(a guard and the value under it, a backend and the comparison with it) names the group that the
pair forms in its file; where any member of a group has to be left to a person, the others are
left as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from porter.engine.fragment import Fragment, Outcome
from porter.model import Level

Rewriter = Callable[[Fragment, str, frozenset[str]], Outcome]


def settle(fragments: Sequence[Fragment], alias: str, rewrite: Rewriter) -> list[Outcome]:
    """Rewrite every fragment so that no group is ported in part.

    Leaving one group can undo an edit that was a member of another one, so this goes on until
    nothing changes; the set of vetoed groups only grows, so it ends.
    """
    vetoed: frozenset[str] = frozenset()
    outcomes = [rewrite(f, alias, vetoed) for f in fragments]
    while True:
        lost = {
            group
            for outcome in outcomes
            for site in outcome.sites
            if site.level is Level.MANUAL
            for group in site.groups
        }
        if lost <= vetoed:
            return outcomes
        vetoed |= lost
        outcomes = [
            rewrite(f, alias, vetoed) if _is_member(o, vetoed) else o
            for f, o in zip(fragments, outcomes, strict=True)
        ]


def _is_member(outcome: Outcome, groups: frozenset[str]) -> bool:
    return any(groups.intersection(site.groups) for site in outcome.sites)
