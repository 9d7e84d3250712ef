"""What verify shows: a table with a line for each run, what was found, and the verdict."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from porter.verify.journal import Written
from porter.verify.outcome import COMPLETE, Comparison, Finding, Outcome, Process, Run

_STYLES = {"error": "red", "warning": "yellow", "note": "dim"}
_VERDICTS = {
    "agree": ("green", "agree"),
    "mismatch": ("red", "mismatch"),
    "could-not-run": ("red", "could not run to its end: nothing is proven"),
}
_WIDTH = 132
"""Of the table where nobody looks: in a file or a log."""
_TAIL = 15


def show(outcome: Outcome, file: TextIO) -> None:
    """Print an outcome."""
    width = None if file.isatty() else _WIDTH
    console = Console(file=file, width=width, highlight=False, soft_wrap=False)
    console.print(_table(outcome))
    for finding in outcome.findings:
        console.print(_line(finding), soft_wrap=True)
    for run in outcome.runs:
        if run.status not in COMPLETE and run.tail:
            console.print(f"[bold]last lines on {run.name}:[/]")
            for line in run.tail[-_TAIL:]:
                console.print("  " + escape(line), soft_wrap=True)
    style, text = _VERDICTS[outcome.verdict]
    emulated = [run.name for run in outcome.runs if run.emulated]
    said = f" ({', '.join(emulated)}: no real device)" if emulated else ""
    console.print(f"[bold {style}]{text}[/]{escape(said)}", soft_wrap=True)


def _table(outcome: Outcome) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading, justify in (
        ("run", "left"),
        ("status", "left"),
        ("steps", "right"),
        ("loss", "left"),
        ("s/step", "right"),
        ("memory", "right"),
        ("parameters", "left"),
        ("changed", "right"),
        ("compared", "left"),
    ):
        table.add_column(heading, justify=justify, no_wrap=heading == "run")  # type: ignore[arg-type]
    comparisons = {comparison.run: comparison for comparison in outcome.comparisons}
    emulated = any(run.emulated for run in outcome.runs)  # then a ratio of speeds means nothing
    for run in outcome.runs:
        table.add_row(*map(escape, _row(run, comparisons.get(run.name), not emulated)))
    return table


def _row(run: Run, comparison: Comparison | None, with_speed: bool) -> list[str]:
    first = run.processes[0] if run.processes else None
    return [
        run.name,
        run.status,
        _steps(run),
        _loss(first) if first else "",
        _seconds(first) if first else "",
        _memory(run.processes),
        _devices(run.processes),
        _changed(run.processes),
        _compared(comparison, with_speed) if comparison else "",
    ]


def _steps(run: Run) -> str:
    counts = sorted({process.steps for process in run.processes})
    times = f" x {len(run.processes)}" if len(run.processes) > 1 else ""
    return "-".join(map(str, counts[:: len(counts) - 1 or 1])) + times


def _loss(process: Process) -> str:
    seen = [value for value in process.curves[0].loss if value is not None]
    return f"{seen[0]:.4g} to {seen[-1]:.4g}" if seen else "not seen"


def _seconds(process: Process) -> str:
    seen = sorted(value for value in process.curves[0].seconds if value is not None)
    return f"{seen[len(seen) // 2]:.3g}" if seen else ""


def _memory(processes: Sequence[Process]) -> str:
    peaks = [process.peak_memory for process in processes if process.peak_memory is not None]
    return f"{max(peaks) / 2**20:,.0f} MiB" if peaks else ""


def _devices(processes: Sequence[Process]) -> str:
    seen = [
        device
        for process in processes
        for placement in process.placements
        for device in placement.elements_by_device
    ]
    return "on " + ", ".join(dict.fromkeys(seen)) if seen else ""


def _changed(processes: Sequence[Process]) -> str:
    placements = [each for process in processes for each in process.placements]
    if not placements:
        return ""
    return f"{sum(p.changed for p in placements)}/{sum(p.parameters for p in placements)}"


def _compared(comparison: Comparison, with_speed: bool) -> str:
    if comparison.mode == "none":
        return "nothing"
    if comparison.mode == "trend":
        text = f"trend of {comparison.steps} losses"
    elif comparison.max_difference == 0:
        text = f"{comparison.steps} losses equal"
    else:
        text = f"{comparison.steps} losses, {comparison.max_difference or 0:.1e} off"
        if comparison.rtol:
            text += f" of {comparison.rtol:.0e}"
    if with_speed and comparison.speed:
        text += f", speed x{comparison.speed:.2g}"
    return text


def _line(finding: Finding) -> str:
    where = [finding.run or ""]
    if finding.rank:
        where.append(f"rank {finding.rank}")
    place = f"{finding.path}:{finding.line}: " if finding.path else ""
    head = ", ".join(filter(None, where))
    style = _STYLES[finding.level]
    text = escape(f"{head}: {place}{finding.message}" if head else f"{place}{finding.message}")
    return f"[{style}]{finding.level}[/] {text}"


class Progress:
    """A line on a terminal's stderr that tells how far the run is that is on."""

    def __init__(self) -> None:
        self._width = 0

    def __call__(self, run: Run, seen: Sequence[Written], elapsed: float) -> None:
        """Rewrite the line."""
        if not sys.stderr.isatty():
            return
        steps = max((len(written.rows) for written in seen), default=0)
        losses = [row["loss"] for written in seen for row in written.rows[-1:]]
        loss = f", loss {losses[0]:.4g}" if losses and losses[0] is not None else ""
        text = f"{run.name}: {elapsed:.0f} s, {steps} steps{loss}"
        columns = shutil.get_terminal_size().columns
        sys.stderr.write("\r" + text[: columns - 1].ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def clear(self) -> None:
        """Leave the line empty."""
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
