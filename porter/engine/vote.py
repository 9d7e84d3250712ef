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
from porter.rule import OWN

Rewriter = Callable[[Fragment, str, frozenset[str]], Outcome]


def settle(fragments: Sequence[Fragment], alias: str, rewrite: Rewriter) -> list[Outcome]:
    """Rewrite every fragment so that no group is ported in part.

    Leaving one group can undo an edit that was a member of another one, so this goes on until
    nothing changes; the sets of vetoed groups only grow, so it ends.
    """
    outcomes = [rewrite(f, alias, frozenset()) for f in fragments]
    vetoed: list[frozenset[str]] = [frozenset()] * len(fragments)
    while True:
        lost = [_lost(outcome) for outcome in outcomes]
        shared = frozenset(g for groups in lost for g in groups if not g.startswith(OWN))
        known, vetoed = vetoed, [old | own | shared for old, own in zip(vetoed, lost, strict=True)]
        if known == vetoed:
            return outcomes
        outcomes = [
            rewrite(f, alias, groups) if _is_member(o, groups) else o
            for f, o, groups in zip(fragments, outcomes, vetoed, strict=True)
        ]


def _lost(outcome: Outcome) -> frozenset[str]:
    """Return the groups of which a member is left to a person."""
    manual = (site for site in outcome.sites if site.level is Level.MANUAL)
    return frozenset(group for site in manual for group in site.groups)


def _is_member(outcome: Outcome, groups: frozenset[str]) -> bool:
    return any(groups.intersection(site.groups) for site in outcome.sites)
