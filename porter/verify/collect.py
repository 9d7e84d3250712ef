"""Makes the processes of an outcome of what they wrote."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal

from porter.verify.journal import Row, Written
from porter.verify.outcome import Curve, NonFinite, Placement, Process, Trapped


def processes(written: Sequence[Written]) -> tuple[list[Process], int]:
    """Return the processes that trained, by stage and rank, and how often they were restarted.

    An elastic launcher starts all ranks anew when one fails: the last ones count.
    """
    trained = [each for each in written if each.rows]
    latest: dict[str, int] = defaultdict(int)
    for each in trained:
        run = each.process.get("run")
        if run:
            latest[run] = max(latest[run], each.process["restart"])
    kept = [
        each
        for each in trained
        if not each.process.get("run") or each.process["restart"] == latest[each.process["run"]]
    ]
    found = [_process(each) for each in kept]
    stages: dict[int, int] = defaultdict(int)
    for process in found:
        process.stage = stages[process.rank]
        stages[process.rank] += 1
    found.sort(key=lambda process: (process.stage, process.rank))
    return found, max(latest.values(), default=0)


def traps(written: Iterable[Written]) -> list[Trapped]:
    """Return each place once, in the order of the code, with the ranks that came by."""
    places: dict[tuple[str, int, str], Trapped] = {}
    for each in written:
        for row in each.traps:
            key = row["path"], row["line"], row["name"]
            trapped = places.setdefault(
                key, Trapped(row["use"], row["path"], row["line"], row["name"])
            )
            if (rank := _rank(each)) not in trapped.ranks:
                trapped.ranks.append(rank)
    for trapped in places.values():
        trapped.ranks.sort()
    return [places[key] for key in sorted(places)]


def first_error(written: Iterable[Written]) -> str | None:
    """Return the exception that ended a process first: the other ranks' follow from it."""
    errors = [(row["time"], _rank(each), row["text"]) for each in written for row in each.errors]
    if not errors:
        return None
    _, rank, text = min(errors)
    return f"rank {rank}: {text}" if rank else str(text)


def versions(written: Iterable[Written]) -> dict[str, str]:
    """Return the versions of Python and torch that the command ran."""
    for each in written:
        if each.process:
            return {key: each.process[key] for key in ("python", "torch")}
    return {}


def _rank(written: Written) -> int:
    rank: int = {"rank": 0, **written.process, **written.state}["rank"]
    return rank


def _process(written: Written) -> Process:
    state = written.state
    curves: dict[str, Curve] = {}
    for row in written.rows:
        curve = curves.setdefault(row["optimizer"], Curve(row["optimizer"]))
        if row["skipped"]:
            curve.skipped.append(len(curve.loss))
        curve.loss.append(row["loss"])
        curve.learning_rate.append(row["lr"])
        curve.gradient_norm.append(row["norm"])
        curve.seconds.append(row["seconds"])
    return Process(
        rank=_rank(written),
        pid=written.pid,
        world_size=state.get("world_size", 1),
        device=state.get("device"),
        device_name=state.get("device_name"),
        peak_memory=state.get("peak_memory"),
        peak_host_memory=state.get("peak_host_memory"),
        process_group=state.get("process_group"),
        autocast=state.get("autocast", []),
        loss_scaled=state.get("loss_scaled", False),
        drew_on_device=state.get("drew_on_device"),
        seed=state.get("seed"),
        same_weights=state.get("digests", {}),
        user_code=state.get("user_code", False),
        curves=list(curves.values()),
        placements=[Placement(**placement) for placement in state.get("placements", [])],
        first_non_finite=_first_non_finite(written.rows),
        faults=written.faults,
    )


def _first_non_finite(rows: Iterable[Row]) -> NonFinite | None:
    counts: dict[str, int] = defaultdict(int)
    for row in rows:
        name = row["optimizer"]
        step, counts[name] = counts[name], counts[name] + 1
        if (text := _non_finite(row["loss"])) is not None:
            return NonFinite(name, step, "loss", text)
        if (text := _non_finite(row["norm"])) is not None:
            return NonFinite(name, step, "gradient norm", text)
    return None


def _non_finite(value: float | None) -> Literal["nan", "inf", "-inf"] | None:
    if value is None or math.isfinite(value):
        return None
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
