"""What axe-core, the checker of accessibility that browsers' tools use, finds on a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page


def violations(page: Page) -> list[str]:
    """Return what is wrong by WCAG 2.2 A and AA and good practice: contrast, names, roles, order.

    What plotly.js draws is left out: it has an accessible name as a whole, and a table beside it.
    """
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(page, context={"exclude": [[".js-plotly-plot"]]}).response["violations"]
    return [
        f"{each['id']}: {node['html'][:200]} {node['failureSummary']}"
        for each in found
        for node in each["nodes"]
    ]


def overflow(page: Page) -> list[str]:
    """Return what is wider than the page, apart from what scrolls by itself."""
    found = page.evaluate(
        """() => {
            const width = document.documentElement.clientWidth;
            const scrolls = (e) => e && (/auto|scroll|hidden/.test(getComputedStyle(e).overflowX)
                || scrolls(e.parentElement));
            return [...document.body.querySelectorAll("*")]
                .filter((e) => e.getBoundingClientRect().right > width + 1)
                .filter((e) => !scrolls(e.parentElement))
                .map((e) => `${e.tagName} ${e.id} ${e.className}`);
        }"""
    )
    assert isinstance(found, list)
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        found.append("the page")
    return found
