"""What docs/axolotl.md says of the two ports is true, and nothing is left out."""

from __future__ import annotations

import pytest

from tests.ports.axolotl.compare import PAGE, Comparison, compare, page, told
from tests.ports.axolotl.environment import HERE
from tests.ports.axolotl.sites import OPTIONS, SITES, Option, Site
from tests.ports.command import porter


@pytest.fixture(scope="session")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    return compare(tmp_path_factory.mktemp("comparison") / "port")


@pytest.mark.slow
@pytest.mark.parametrize("site", SITES, ids=lambda site: f"{site.path}: {site.before.strip()}")
def test_the_verdict_is_true(site: Site, comparison: Comparison) -> None:
    places = comparison.places(site)
    assert places
    assert site.by_hand in comparison.text_by_hand(site.path)
    for place in places:
        assert place.is_changed == (site.verdict in ("same", "better"))
        if not place.is_changed:
            assert bool(place.findings) == (site.verdict == "reported")
        if not site.by_hand:
            assert site.before in comparison.text_by_hand(site.path), "it was changed by hand"


@pytest.mark.slow
def test_nothing_is_left_out(comparison: Comparison) -> None:
    covered = {(site.path, place.line) for site in SITES for place in comparison.places(site)}
    by_porter = list(comparison.changed())
    by_hand = list(comparison.taken_out_by_hand())
    assert len(by_porter) > 40
    assert len(by_hand) > 10
    assert [place for place in by_porter + by_hand if place[:2] not in covered] == []


@pytest.mark.slow
def test_the_page_is_what_the_trees_say(comparison: Comparison) -> None:
    assert PAGE.read_text() == page(comparison), (
        "write it again: python -m tests.ports.axolotl.compare FOLDER > docs/axolotl.md"
    )


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.line)
def test_an_option_that_npus_lack_is_reported_by_its_name(option: Option) -> None:
    (found,) = told(option)
    name, _, value = option.line.partition(": ")
    assert found.is_manual
    assert name in found.message
    assert value == "true" or value in found.message
    assert f"`{option.line}`" in PAGE.read_text()


@pytest.mark.slow
def test_the_options_refused_by_hand_are_these(comparison: Comparison) -> None:
    refusals = comparison.text_by_hand("utils/config/models/input/v0_4_1/__init__.py")
    refusals = refusals.partition("def check_npu_config(")[2].partition("return data")[0]
    for option in OPTIONS:
        assert option.by_hand in refusals
        if not option.by_hand:
            assert option.line.partition(":")[0] not in refusals


def test_a_configuration_without_them_is_left_in_peace() -> None:
    done = porter("check", "--all", str(HERE / "lora.yml"))
    assert (done.returncode, done.stderr) == (0, "")
