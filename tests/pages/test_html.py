from __future__ import annotations

import base64
import gzip
import re
from html.parser import HTMLParser
from pathlib import Path

from plotly.offline import get_plotlyjs  # type: ignore[import-untyped]  # it has none

from porter.pages.portability import portability
from porter.pages.portability_page import portability_page
from tests.pages import sample


class _Parts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in {"src", "href"}]


def _parts(html: str) -> _Parts:
    parts = _Parts()
    parts.feed(html)
    return parts


def test_data_adds_no_markup() -> None:
    plain = portability_page(portability(sample.small(), [Path()]))
    hostile = portability_page(portability(sample.hostile(), [Path()]))
    assert _parts(hostile).tags == _parts(plain).tags


def test_a_title_is_text(tmp_path: Path) -> None:
    folder = tmp_path / "<b>&"
    folder.mkdir()
    html = portability_page(portability(sample.small(), [folder]))
    assert "<title>Portability of &lt;b&gt;&amp;</title>" in html


def test_nothing_is_linked() -> None:
    html = portability_page(portability(sample.small(), [Path()]))
    assert _parts(html).links == ["data:,"]
    assert "default-src 'none'" in html


def test_the_same_run_makes_the_same_page() -> None:
    told = portability(sample.small(), [Path()])
    assert portability_page(told) == portability_page(told)


def test_plotly_is_in_the_page_packed() -> None:
    html = portability_page(portability(sample.small(), [Path()]))
    packed = re.search(r'id="plotly">([^<]*)<', html)
    assert packed is not None
    assert gzip.decompress(base64.b64decode(packed[1])).decode() == get_plotlyjs()
    assert len(html) < len(get_plotlyjs()) / 2
