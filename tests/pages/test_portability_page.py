from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from porter.pages.portability import portability
from porter.pages.portability_page import portability_page
from porter.report import Report
from tests.pages import sample
from tests.pages.accessibility import overflow, violations
from tests.pages.conftest import Shown

if TYPE_CHECKING:
    from playwright.sync_api import Page


def _html(report: Report) -> str:
    return portability_page(portability(report, [Path()]))


def _detail(page: Page) -> str:
    return page.inner_text("#detail")


def _rows(page: Page) -> list[str]:
    return page.locator("#list [role=option]").all_inner_texts()


@pytest.fixture(scope="module")
def shared(shown_once: Shown) -> Page:
    return shown_once(_html(sample.small()))


@pytest.fixture
def page(shared: Page) -> Page:
    """A page without filters."""
    shared.click("#clear")
    return shared


def test_figures(page: Page) -> None:
    assert page.inner_text("#share") == "60 %\nported"
    assert page.inner_text("#verdict") == "60 % ports by itself; 1 site to decide on, 1 blocked."
    assert page.inner_text("#shown") == "8 findings in 4 files"
    assert "Files looked at\n9" in page.inner_text("#tiles")
    assert "link.py: a link to nothing" in page.inner_text("#skipped")


def test_treemap_and_its_legend(page: Page) -> None:
    tiles = page.locator("#treemap text.slicetext").all_text_contents()
    assert {"train.py3", "lib"} <= set(tiles)
    assert page.locator("#treemap .cbtitle").text_content() == "left, % of sites"
    page.locator("#treemap g.slice", has_text="train.py").locator(".surface").click()
    assert page.inner_text("#shown") == "4 findings in 1 file"
    assert page.input_value("#folder") == "src/train.py"


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out_and_everybody_can_read_it(
    width: int, scheme: str, shown: Shown
) -> None:
    page = shown(_html(sample.small()), width, scheme)
    assert overflow(page) == []
    assert violations(page) == []
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    red = int(re.findall(r"\d+", background)[0])
    assert red < 64 if scheme == "dark" else red > 192


def test_theme_switch(page: Page) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    label = "getComputedStyle(document.querySelector('#treemap text.slicetext')).fill"
    light = page.evaluate(background), page.evaluate(label)
    page.get_by_role("button", name="Dark theme").click()
    page.wait_for_function(f"{label} !== {light[1]!r}")
    assert page.evaluate(background) != light[0]
    assert violations(page) == []
    page.get_by_role("button", name="Light theme").click()
    assert page.evaluate(background) == light[0]


def test_a_finding_has_source_reason_mend_and_diff(page: Page) -> None:
    page.get_by_role("option", name="PTR101 · 2:1").last.click()
    text = _detail(page)
    for part in ("src/train.py:2:1", "✓ ported", "x = x.cuda()", "x.to(accel.device_type)"):
        assert part in text
    assert page.locator("#detail mark").inner_text() == "x = x.cuda()"
    assert page.locator("#detail .added").inner_text().endswith("+x = x.to(accel.device_type)")
    page.get_by_role("option", name="import flash_attn").click()
    assert "✕ blocked" in _detail(page)
    assert "only CUDA has flash_attn" in _detail(page)
    assert page.locator("#detail p code").first.inner_text() == "flash_attn"
    page.get_by_role("option", name=re.compile("train.py 4 findings")).click()
    assert page.locator("#detail .removed").count() == 1
    assert page.locator("#detail .line.head").inner_text() == "@@ -1,2 +1,2 @@"


def test_search_and_filters(page: Page) -> None:
    page.fill("#search", "CUDA train")
    assert page.inner_text("#shown") == "3 findings in 1 file"
    page.fill("#search", "")
    page.get_by_role("checkbox", name="ported").uncheck()
    assert page.inner_text("#shown") == "5 findings in 3 files"
    page.select_option("#folder", "src")
    assert page.inner_text("#shown") == "3 findings in 1 file"
    page.select_option("#rule", "PTR701")
    assert _rows(page) == ["src/train.py\n1 finding", "✕\nblocked\nPTR701 · 4:1\nimport flash_attn"]
    page.fill("#search", "nowhere")
    assert page.inner_text("#shown") == "0 findings in 0 files"
    assert "No finding matches" in _detail(page)
    page.get_by_role("button", name="Clear").click()
    assert page.inner_text("#shown") == "8 findings in 4 files"
    assert page.get_by_role("checkbox", name="ported").is_checked()
    page.get_by_role("button", name=re.compile("^Tensors and modules")).click()
    assert page.inner_text("#shown") == "3 findings in 2 files"


def test_folders_as_a_table(page: Page) -> None:
    page.get_by_text("Folders as a table").click()
    page.get_by_role("button", name=re.compile("^lib: 2 ported")).click()
    assert page.inner_text("#shown") == "2 findings in 1 file"


def test_keyboard(shown: Shown) -> None:
    page = shown(_html(sample.small()))
    focused = "document.activeElement.id"
    page.keyboard.press("/")
    assert page.evaluate(focused) == "search"
    page.keyboard.type("src/")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) == "list"
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"
    first = _detail(page)
    page.keyboard.press("ArrowDown")
    selected = page.locator("#list [aria-selected=true]")
    assert selected.get_attribute("id") == page.get_attribute("#list", "aria-activedescendant")
    outlined = "getComputedStyle(document.querySelector('[aria-selected=true]')).outlineStyle"
    assert page.evaluate(outlined) == "solid"
    assert _detail(page) != first
    page.keyboard.press("End")
    assert "PTR609" in selected.inner_text()
    page.keyboard.press("ArrowLeft")
    assert selected.inner_text().startswith("src/train.py")
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    assert page.evaluate(focused) == "detail"
    page.keyboard.press("Escape")
    assert page.evaluate(focused) == "list"


def test_all_controls_are_reached_with_tab(shown: Shown) -> None:
    page = shown(_html(sample.small()))
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))
        if reached[-1] == "list":
            break
    order = [name for name in reached if name in {"theme", "search", "rule", "folder", "list"}]
    assert order == ["theme", "search", "rule", "folder", "list"]
    assert page.evaluate("document.activeElement.matches(':focus-visible')")


def test_hostile_text_is_shown_as_text(shown: Shown) -> None:
    page = shown(_html(sample.hostile()))
    assert page.title().startswith("Portability of ")
    assert page.locator("#list img, #detail img, #skipped script").count() == 0
    page.keyboard.press("/")
    page.keyboard.type("<img")
    assert page.inner_text("#shown") == f"{2 * len(sample.HOSTILE_NAMES)} findings in 6 files"
    assert "<img src=x" in _detail(page)
    names = page.locator("#skipped code").all_inner_texts()
    assert names[0] == sample.HOSTILE_NAMES[0]
    assert names[2:5] == ["line\\nend.py", "bytes\\u{dcff}.py", "right-to-left \\u{202e}yp.exe.py"]
    assert overflow(page) == []


def test_nothing_found(shown: Shown) -> None:
    page = shown(_html(Report(3)))
    assert page.inner_text("#verdict") == "Nothing here is hard-coded for CUDA."
    assert page.inner_text("#shown") == "0 findings in 0 files"
    assert violations(page) == []


def test_five_thousand_findings_without_five_thousand_rows(shown: Shown) -> None:
    page = shown(_html(sample.large()))
    assert page.inner_text("#shown") == "5,000 findings in 500 files"
    assert page.locator("#list [role=option]").count() < 60
    page.focus("#list")
    page.keyboard.press("End")
    assert page.locator("#list [aria-selected=true]").get_attribute("aria-posinset") == "5500"
    assert page.locator("#list [aria-selected=true]").is_visible()
    page.fill("#search", "value_499_3 ")
    assert page.inner_text("#shown") == "1 finding in 1 file"
    assert "module_499.py:3:1" in _detail(page)
