"""The portability report as an HTML page."""

from __future__ import annotations

from porter.pages.html import page
from porter.pages.portability import Portability, document

_ASSETS = (
    "page.css",
    "portability.css",
    "page.js",
    "charts.js",
    "overview.js",
    "places.js",
    "filters.js",
    "list.js",
    "diff.js",
    "detail.js",
    "portability.js",
)


def portability_page(portability: Portability) -> str:
    """Return the page: one file of HTML in UTF-8.

    Raises:
        Refused: plotly is not installed.
    """
    title = f"Portability of {portability.name}"
    return page(title, "portability.html", document(portability), _ASSETS)
