from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from porter.pages.verify_page import verify_page
from tests.pages import outcomes, sample
from tests.pages.accessibility import overflow, violations
from tests.pages.conftest import Shown

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHARTS = {
    "loss": ("step", "loss"),
    "difference": ("step", "relative difference"),
    "seconds": ("step", "seconds"),
    "gradient_norm": ("step", "2-norm of the gradients"),
    "learning_rate": ("step", "learning rate"),
}


def _legend(page: Page, chart: str) -> list[str]:
    return page.locator(f"#{chart} .legendtext").all_text_contents()


def _table(page: Page, name: str) -> list[list[str]]:
    rows = page.locator(f"#{name} tbody tr").all()
    return [row.locator("td").all_inner_texts() for row in rows]


@pytest.fixture(scope="module")
def mismatch(shown_once: Shown) -> Page:
    return shown_once(verify_page(outcomes.mismatch()))


def test_every_chart_has_its_axes_and_its_legend(mismatch: Page) -> None:
    for chart, (x, y) in CHARTS.items():
        assert mismatch.locator(f"#{chart} .xtitle").text_content() == x
        assert mismatch.locator(f"#{chart} .ytitle").text_content() == y
        assert mismatch.locator(f"#{chart} .xtick").count() > 2
        assert mismatch.locator(f"#{chart} .ytick").count() > 1
    both = ["cpu · rank 0", "npu-emulated · rank 0"]
    assert _legend(mismatch, "loss") == [*both, *(f"{name}: skipped" for name in both)]
    assert _legend(mismatch, "difference") == ["npu-emulated · rank 0"]
    assert _legend(mismatch, "memory") == ["on the device", "of the machine"]
    assert set(mismatch.locator("#memory .ytick").all_text_contents()) == {
        f"{run} · rank {rank}" for run in ("cpu", "npu-emulated") for rank in (0, 1)
    }


def test_what_differed_first_and_where(mismatch: Page) -> None:
    assert mismatch.inner_text("#verdict") == "✕ It does not pass: the findings say why."
    expected = 2.5 * 2.718281828 ** (-11 / 20)
    first = mismatch.inner_text("#first")
    assert first.startswith("What differed first: step 12 of Adam in npu-emulated · rank 0")
    assert f"{1.02 * expected:.5g} instead of {expected:.5g}" in first
    assert mismatch.locator("#loss .annotation-text").text_content() == "first difference"
    compared = mismatch.inner_text("#comparisons")
    assert "160 losses compared within a tolerance of 0.001 (float32)" in compared
    assert "largest relative difference 0.02, at step 18" in compared


def test_an_emulated_device_is_called_so_and_its_speed_is_not_praised(mismatch: Page) -> None:
    assert "npu-emulated: an emulated device" in mismatch.inner_text("#emulated")
    rows = _table(mismatch, "runs")
    assert ["emulated" in row[0].split(" ") for row in rows] == [False, True, False]
    assert "times as fast" not in mismatch.inner_text("main")


def test_what_was_not_there_has_not_passed(mismatch: Page) -> None:
    row = _table(mismatch, "runs")[2]
    assert row[:3] == ["cuda", "not available\n\ntorch sees no CUDA device", "0"]


def test_findings_and_what_the_trap_caught(mismatch: Page) -> None:
    findings = mismatch.locator("#findings li").all_inner_texts()
    assert findings[0] == "✕ error\n\nthe loss differs\n\nnpu-emulated · rank 0 · Adam · step 12"
    assert findings[1].endswith("npu-emulated · train.py:41")
    assert findings[2] == "i note\n\nhalf as fast"
    caught = [row[1:] for row in _table(mismatch, "trap")]
    assert caught == [
        ["train.py:41", "torch.cuda.empty_cache", "did something with CUDA", "0, 1"],
        ["lib/a.py:7", "torch.cuda.is_available", "asked whether CUDA is there", "0"],
    ]


def test_tables(mismatch: Page) -> None:
    assert _table(mismatch, "runs")[0][2:7] == ["40", "2.5", "0.35569", "50 ms", "12.5 s"]
    process = _table(mismatch, "processes")[3]
    assert process[:5] == ["npu-emulated · rank 1", "1 of 2", "npu:1", "npu:1", "hccl"]
    assert process[7:9] == ["5 MB", "400 MB"]
    parameters = _table(mismatch, "parameters")[2]
    assert parameters[2:8] == ["12 (5,000 numbers)", "12", "12", "0", "npu:0 100 %", "npu:0 100 %"]
    assert mismatch.locator("#environment mark").all_inner_texts() == ["2.13.0", "2.12.0"]


def test_logarithmic_scale(mismatch: Page) -> None:
    mismatch.get_by_label("Log scale").check()
    mismatch.wait_for_function("document.getElementById('loss').layout.yaxis.type === 'log'")
    mismatch.get_by_label("Log scale").uncheck()
    mismatch.wait_for_function("document.getElementById('loss').layout.yaxis.type === 'linear'")


def test_choosing_ranks_and_optimizers(mismatch: Page) -> None:
    mismatch.select_option("#ranks", "all")
    mismatch.wait_for_function("document.querySelectorAll('#seconds .legendtext').length === 4")
    mismatch.select_option("#ranks", "1")
    mismatch.wait_for_function("document.querySelectorAll('#seconds .legendtext').length === 2")
    assert _legend(mismatch, "seconds") == ["cpu · rank 1", "npu-emulated · rank 1"]
    traces = "document.getElementById('loss').data.map((each) => each.y.at(-1))"
    second = outcomes.losses(5.0)
    assert mismatch.evaluate(traces)[0] != second[-1]
    mismatch.select_option("#optimizer", "Adam 2")
    mismatch.wait_for_function(f"{traces}[0] === {second[-1]!r}")
    mismatch.select_option("#optimizer", "Adam")
    mismatch.select_option("#ranks", "0")


def test_hovering_tells_all_values_of_a_step(mismatch: Page) -> None:
    mismatch.locator("#loss .nsewdrag").hover(position={"x": 300, "y": 60})
    mismatch.wait_for_selector("#loss .hoverlayer .legendtext")
    texts = mismatch.locator("#loss .hoverlayer .legendtext").all_text_contents()
    assert re.fullmatch(r"cpu · rank 0 : [\d.]+", texts[0])
    assert re.fullmatch(r"npu-emulated · rank 0 : [\d.]+", texts[1])


def test_theme_switch_reaches_the_charts(mismatch: Page) -> None:
    ink = "getComputedStyle(document.querySelector('#loss .ytitle')).fill"
    light = mismatch.evaluate(ink)
    mismatch.get_by_role("button", name="Dark theme").click()
    mismatch.wait_for_function(f"{ink} !== {light!r}")
    assert violations(mismatch) == []
    mismatch.get_by_role("button", name="Light theme").click()
    mismatch.wait_for_function(f"{ink} === {light!r}")


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out_and_everybody_can_read_it(
    width: int, scheme: str, shown: Shown
) -> None:
    page = shown(verify_page(outcomes.mismatch()), width, scheme)
    assert overflow(page) == []
    assert violations(page) == []


def test_equal_losses_are_called_equal(shown: Shown) -> None:
    page = shown(verify_page(outcomes.agreeing()))
    assert page.inner_text("#verdict") == "✓ It trains there as it does on the reference."
    assert page.inner_text("#equal") == "All losses that were compared are equal, bit for bit."
    assert page.is_hidden("#difference")
    assert page.is_hidden("#first")
    assert page.is_hidden("#findings-card")
    widths = page.evaluate("document.getElementById('loss').data.map((each) => each.line?.width)")
    assert widths[0] > 2 * widths[1]  # or the one would hide the other


def test_a_run_without_steps_has_no_empty_charts(shown: Shown) -> None:
    page = shown(verify_page(outcomes.crashed()))
    assert page.inner_text("#verdict") == "! It could not be verified: the findings say why."
    assert page.inner_text("#loss") == "Nothing was seen."
    assert page.is_hidden("#difference-card")
    assert page.inner_text("#tails pre") == "Traceback\nImportError: no"
    assert _table(page, "runs")[0][1] == "crashed\n\nImportError: no"
    assert violations(page) == []


@pytest.mark.parametrize("text", sample.HOSTILE_SOURCES)
def test_hostile_text_stays_text(text: str) -> None:
    tags = re.compile(r"<(?:script|img|b|!--)[ >]")
    plain = verify_page(outcomes.crashed())
    assert tags.findall(verify_page(outcomes.crashed(text))) == tags.findall(plain)


def test_hostile_text_is_shown(shown: Shown) -> None:
    text = sample.HOSTILE_SOURCES[1]
    page = shown(verify_page(outcomes.crashed(text)))
    assert page.title().startswith("Verification of ")
    assert page.inner_text("#findings p >> nth=0") == text
    assert page.locator("img").count() == 0


def test_losses_keep_all_their_digits() -> None:
    document = outcomes.agreeing()
    loss = document["runs"][0]["processes"][0]["curves"][0]["loss"]
    assert str(loss[1])[:17] in verify_page(document)
