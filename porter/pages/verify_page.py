"""The outcome of `porter verify` as an HTML page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from porter.pages.html import page

_ASSETS = (
    "page.css",
    "verify.css",
    "page.js",
    "charts.js",
    "series.js",
    "verdict.js",
    "curves.js",
    "memory.js",
    "tables.js",
    "verify.js",
)


def verify_page(outcome: Mapping[str, Any]) -> str:
    """Return the page: one file of HTML in UTF-8.

    Args:
        outcome: the document that `porter verify --json` writes.

    Raises:
        Refused: plotly is not installed.
    """
    name = PurePath(outcome["folder"]).name or outcome["folder"]
    title = f"Verification of {name}"
    runs = [_with_short_numbers(run) for run in outcome["runs"]]
    return page(title, "verify.html", {**outcome, "name": name, "runs": runs}, _ASSETS)


def _with_short_numbers(run: Mapping[str, Any]) -> dict[str, Any]:
    """Round what is only looked at; losses are compared bit for bit, and stay."""
    processes = [
        {**process, "curves": [_with_short_lists(curve) for curve in process["curves"]]}
        for process in run["processes"]
    ]
    return {**run, "processes": processes}


def _with_short_lists(curve: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **curve,
        **{
            key: [value if value is None else float(f"{value:.5g}") for value in curve[key]]
            for key in ("learning_rate", "gradient_norm", "seconds")
        },
    }
