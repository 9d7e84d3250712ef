"""Pages in a real Chromium, which may not use the network and has nothing to complain of."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

from tests.cli.conftest import porter

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

__all__ = ["porter"]

Shown = Callable[..., "Page"]


def _missing(what: str) -> NoReturn:
    if os.environ.get("PORTER_REQUIRE_BROWSER") == "1":
        pytest.fail(f"PORTER_REQUIRE_BROWSER is set, but {what}")
    pytest.skip(f"no look at pages: {what}")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Return a headless Chromium of the system's."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        _missing("there is no Chromium on the path")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("playwright is not installed")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield launched
        launched.close()


@contextmanager
def _looking(browser: Browser, folder: Path) -> Iterator[Shown]:
    """Give a function that opens a page's HTML, and waits until its charts are drawn.

    At the end, nothing may have been said on the console, and nothing asked of the network.
    """
    complaints: list[str] = []
    requests: list[str] = []
    contexts: list[BrowserContext] = []

    def show(html: str, width: int = 1280, scheme: str = "light") -> Page:
        path = folder / f"page{len(contexts)}.html"
        path.write_text(html, encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if scheme == "dark" else "light",
            offline=True,
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_function(
            """[...document.querySelectorAll(".chart")].every(
                (chart) => chart.matches(".empty, [hidden], [hidden] *")
                    || chart.querySelector(".main-svg"))"""
        )
        return page

    yield show
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith("file:")] == []
    assert len(requests) == len(contexts)


@pytest.fixture
def shown(browser: Browser, tmp_path: Path) -> Iterator[Shown]:
    """Return a function that opens a page's HTML; see `_looking`."""
    with _looking(browser, tmp_path) as show:
        yield show


@pytest.fixture(scope="module")
def shown_once(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    """The same, for pages that the tests of a module only read."""
    with _looking(browser, tmp_path_factory.mktemp("pages")) as show:
        yield show
