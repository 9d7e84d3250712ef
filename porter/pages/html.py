"""Self-contained HTML pages: one file that needs no network, and may not use any.

Everything that a page tells goes into it as JSON, and its scripts put it there as text, never as
markup. What the charts are drawn with, plotly.js, is packed: 2 MB instead of 5 in every page.
"""

from __future__ import annotations

import base64
import gzip
import html
import importlib.util
import json
from collections.abc import Sequence
from functools import cache
from importlib import resources
from string import Template

from porter.errors import Refused
from porter.pages.escape import visible

_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&"}
"""How JSON inside a script element has to write what could end the element."""


def page(title: str, body: str, data: object, names: Sequence[str]) -> str:
    """Return a page.

    Args:
        title: the page's title, as plain text.
        body: the asset with the markup that is the same for all pages of the kind.
        data: what the scripts find under `DATA`; anything that JSON can hold.
        names: the assets that make up the page: its style sheets and its scripts, in order.

    Raises:
        Refused: plotly is not installed.
    """
    styles, scripts = (
        "\n".join(_asset(name) for name in names if name.endswith(ending))
        for ending in (".css", ".js")
    )
    return Template(_asset("page.html")).substitute(
        title=html.escape(visible(title)),
        body=_asset(body),
        style=styles,
        script=scripts,
        data=_as_json(data),
        plotly=_plotly(),
    )


def require_plotly() -> None:
    """Make sure that pages can be made, before the work for one is done.

    Raises:
        Refused: plotly is not installed.
    """
    if importlib.util.find_spec("plotly") is None:
        raise Refused(
            "the charts of an HTML report need plotly: pip install 'porter-codemod[report]'"
        )


def _as_json(data: object) -> str:
    return json.dumps(data, separators=(",", ":"), allow_nan=False).translate(_ESCAPES)


def _asset(name: str) -> str:
    return (resources.files(__package__) / "assets" / name).read_text(encoding="utf-8")


@cache
def _plotly() -> str:
    """Return plotly.js, packed with gzip and as base64."""
    require_plotly()
    from plotly.offline import get_plotlyjs  # type: ignore[import-untyped]  # it has none

    packed = gzip.compress(get_plotlyjs().encode(), mtime=0)
    return base64.b64encode(packed).decode("ascii")
