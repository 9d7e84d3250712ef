"""A run beside the reference: steps, losses, learning rates, gradients, speed."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from porter.verify.checks import counterpart
from porter.verify.outcome import COMPLETE, Comparison, Curve, Finding, Process, Run
from porter.verify.trend import trend

_RTOL = {"float64": 1e-5, "float32": 1e-3, "float16": 2e-2, "bfloat16": 5e-2}
"""By the coarsest dtype of the two: what differs by rounding alone, some hundred steps later."""
_GRADIENTS = 10.0
"""A gradient norm may differ that many times more than a loss."""
_RATE = 1e-6

Values = Sequence[float | None]


@dataclass(frozen=True)
class _Pair:
    process: Process
    curve: Curve
    before: Curve


def compare(run: Run, reference: Run, rtol: float | None) -> tuple[Comparison, list[Finding]]:
    """Compare what can be compared, be it incomplete.

    Args:
        run: a run of the port.
        reference: another run of the port, or of the original.
        rtol: the relative difference of losses that is allowed; None for the default.
    """
    comparison = Comparison(run.name, reference.name)
    findings = list(_shape(run, reference))
    pairs = _pairs(run, reference)
    if not pairs:
        return comparison, findings
    comparison.speed = _speed(pairs)
    same_backend = run.backend == reference.backend
    if rtol is None and same_backend and run.device_type == "cuda":
        comparison.mode = "bits"
    elif (why := _streams_differ(run, reference)) is not None:
        comparison.mode = "trend"
        findings.append(Finding("trend", "note", why, run.name))
    else:
        comparison.mode = "tolerance"
        if rtol is None:
            comparison.dtype = _coarsest(run, reference)
            comparison.rtol = _RTOL[comparison.dtype]
        else:
            comparison.rtol = rtol
    for pair in pairs:
        judge = _trends if comparison.mode == "trend" else _values
        for finding in judge(pair, comparison):
            finding.run, finding.rank = run.name, pair.process.rank
            finding.optimizer = pair.curve.optimizer
            findings.append(finding)
    if not comparison.steps:
        findings.append(
            Finding("not-compared", "warning", "no loss of both runs was seen to compare", run.name)
        )
    return comparison, findings


def _shape(run: Run, reference: Run) -> Iterator[Finding]:
    """Yield differences in the numbers of processes, optimizers and steps."""
    if not {run.status, reference.status} <= COMPLETE:
        return
    if len(run.processes) != len(reference.processes):
        yield Finding(
            "processes",
            "error",
            f"{len(run.processes)} process(es) trained where {reference.name} had "
            f"{len(reference.processes)}",
            run.name,
        )
    for process in run.processes:
        other = counterpart(process, reference)
        ours = {curve.optimizer: len(curve.loss) for curve in process.curves}
        theirs = {curve.optimizer: len(curve.loss) for curve in other.curves} if other else ours
        for name in {**theirs, **ours}:
            made, expected = ours.get(name, 0), theirs.get(name, 0)
            if made != expected:
                yield Finding(
                    "steps",
                    "error",
                    f"{made} steps of {name}, where {reference.name} made {expected}",
                    run.name,
                    process.rank,
                    name,
                )


def _pairs(run: Run, reference: Run) -> list[_Pair]:
    pairs = []
    for process in run.processes:
        other = counterpart(process, reference)
        for curve in process.curves:
            for before in other.curves if other else ():
                if before.optimizer == curve.optimizer:
                    pairs.append(_Pair(process, curve, before))
    return pairs


def _streams_differ(run: Run, reference: Run) -> str | None:
    """Return why the runs saw different random numbers; None where they saw the same."""
    both = [*run.processes, *reference.processes]
    if run.backend != reference.backend and any(process.drew_on_device for process in both):
        return (
            "random numbers were drawn on the device, whose stream differs from other devices': "
            "not the losses of single steps but their trend is compared"
        )
    for process in run.processes:
        other = counterpart(process, reference)
        seeds = {process.seed, other.seed} if other else set()
        if len(seeds) == 2 and None not in seeds:
            return (
                "the program sets no seed, so that each run has its own random numbers: not the "
                "losses of single steps but their trend is compared. Give it a seed"
            )
        for curve in process.curves:
            before = [c for c in other.curves if c.optimizer == curve.optimizer] if other else []
            if before and before[0].skipped != curve.skipped:
                return (
                    "a GradScaler skipped other steps than in the reference: not the losses of "
                    "single steps but their trend is compared"
                )
    return None


def _coarsest(run: Run, reference: Run) -> str:
    seen = {"float32"}
    for process in (*run.processes, *reference.processes):
        seen |= set(process.autocast)
        seen |= {dtype for placement in process.placements for dtype in placement.dtypes}
    coarsest = [dtype for dtype in _RTOL if dtype in seen][-1]
    return coarsest


def _values(pair: _Pair, comparison: Comparison) -> Iterator[Finding]:
    """Yield the first step that differs in each thing that is compared step by step."""
    rtol = comparison.rtol or 0.0
    ours, theirs = pair.curve, pair.before
    level = _level(theirs.loss)
    first = None
    for step, (a, b) in enumerate(zip(ours.loss, theirs.loss, strict=False)):
        if a is None or b is None:
            continue
        comparison.steps += 1
        off = _difference(a, b, level)
        if comparison.max_difference is None or off > comparison.max_difference:
            comparison.max_difference, comparison.max_difference_step = off, step
        if off > rtol and first is None:
            first = step
            allowed = f"{rtol:.0e} is allowed" if rtol else "they have to be equal bit for bit"
            yield Finding(
                "loss",
                "error",
                f"the loss of step {step + 1} is {a:.7g} where {comparison.reference} has {b:.7g}: "
                f"{off:.1e} off, {allowed}",
                step=step,
            )
    earlier = comparison.first_difference_step
    if first is not None and (earlier is None or first < earlier):
        comparison.first_difference_step = first
    yield from _first_off(
        "learning-rate", "error", ours.learning_rate, theirs.learning_rate, _RATE, comparison
    )
    yield from _first_off(
        "gradient-norm",
        "warning" if rtol else "error",
        ours.gradient_norm,
        theirs.gradient_norm,
        rtol * _GRADIENTS,
        comparison,
    )


def _first_off(
    kind: str, severity: str, ours: Values, theirs: Values, rtol: float, comparison: Comparison
) -> Iterator[Finding]:
    level = _level(theirs) if kind != "learning-rate" else 0.0
    for step, (a, b) in enumerate(zip(ours, theirs, strict=False)):
        if a is not None and b is not None and (off := _difference(a, b, level)) > rtol:
            yield Finding(
                kind,
                "error" if severity == "error" else "warning",
                f"the {kind.replace('-', ' ')} of step {step + 1} is {a:.7g} where "
                f"{comparison.reference} has {b:.7g}: {off:.1e} off",
                step=step,
            )
            return


def _difference(a: float, b: float, level: float) -> float:
    """Return the difference relative to the reference, or to its mean where that is larger."""
    if a == b or (math.isnan(a) and math.isnan(b)):
        return 0.0
    if not (math.isfinite(a) and math.isfinite(b)):
        return math.inf
    return abs(a - b) / max(abs(b), level, 1e-30)


def _level(values: Values) -> float:
    finite = [abs(value) for value in values if value is not None and math.isfinite(value)]
    return statistics.fmean(finite) if finite else 0.0


def _trends(pair: _Pair, comparison: Comparison) -> Iterator[Finding]:
    both = [
        (a, b)
        for a, b in zip(pair.curve.loss, pair.before.loss, strict=False)
        if a is not None and b is not None and math.isfinite(a) and math.isfinite(b)
    ]
    comparison.steps += len(both)
    finding = trend([a for a, _ in both], [b for _, b in both], comparison.reference)
    if finding is not None:
        yield finding


def _speed(pairs: Sequence[_Pair]) -> float | None:
    """Return how many times faster the median step is than the reference's."""
    longest = max(pairs, key=lambda pair: len(pair.curve.seconds))
    ours, theirs = (
        [value for value in curve.seconds if value] for curve in (longest.curve, longest.before)
    )
    return statistics.median(theirs) / statistics.median(ours) if ours and theirs else None
