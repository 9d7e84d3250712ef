"""Whether two losses fall alike, where no step of one is to equal that of the other."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from porter.verify.outcome import Finding

_ENOUGH = 8
"""Steps below which no trend can be told."""
_SHARE = 0.5
"""Of the reference's fall: less is another trend."""
_NOISE = 4.0
"""Standard errors within which a difference of means counts for nothing."""


def trend(ours: Sequence[float], theirs: Sequence[float], reference: str) -> Finding | None:
    """Compare the first and the last quarter of two losses.

    Returns:
        An error if the reference falls and ours falls by less than half of that, or if neither
        falls and they are far apart; a warning where there are too few steps to tell; else None.
    """
    if len(ours) < _ENOUGH:
        return Finding(
            "trend", "warning", f"{len(ours)} steps are too few to tell a trend: give it more"
        )
    quarter = len(ours) // 4
    fall, noise = _fall(ours, quarter)
    expected, expected_noise = _fall(theirs, quarter)
    slack = _NOISE * (noise + expected_noise)
    if expected > _NOISE * expected_noise:
        if fall < _SHARE * expected and expected - fall > slack / _NOISE:
            return Finding(
                "trend",
                "error",
                f"the loss falls by {fall:.3g} where {reference}'s falls by {expected:.3g}",
            )
        return None
    apart = abs(statistics.fmean(ours) - statistics.fmean(theirs))
    if apart > slack + 0.25 * abs(statistics.fmean(theirs)):
        return Finding(
            "trend",
            "error",
            f"the mean loss is {statistics.fmean(ours):.3g} where {reference} has "
            f"{statistics.fmean(theirs):.3g}",
        )
    return None


def _fall(values: Sequence[float], quarter: int) -> tuple[float, float]:
    """Return by how much the mean falls from the first to the last quarter, and its error."""
    begin, end = values[:quarter], values[-quarter:]
    error = sum(statistics.stdev(part) / len(part) ** 0.5 for part in (begin, end)) / 2
    return statistics.fmean(begin) - statistics.fmean(end), error
