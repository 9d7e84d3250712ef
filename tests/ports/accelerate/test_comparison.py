"""docs/accelerate.md says what the two ports of Accelerate are, and leaves no place out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.ports.accelerate.compare import PAGE, compare, page
from tests.ports.accelerate.runs import Tree
from tests.ports.accelerate.sites import SITES
from tests.ports.comparison import Comparison, Site

NPU = re.compile(r"\bnpus?\b|npu_|_npu|hccl|ascend", re.IGNORECASE)
SKIPPED = re.compile(r"\s*(from .*import|is_npu_available,$|(el)?if is_npu_available\(\):$)")


@pytest.fixture(scope="module")
def comparison(accelerate: Path, port: Tree, project: Callable[[str], Path]) -> Comparison:
    return compare(accelerate, project("accelerate==0.21.0"), port.folder)


def named(site: Site) -> str:
    return f"{site.path}: {site.before.strip()}"


def test_the_page_is_what_the_script_writes(comparison: Comparison) -> None:
    assert PAGE.read_text() == page(comparison)


@pytest.mark.parametrize("site", SITES, ids=named)
def test_a_site_is_in_the_trees_and_its_verdict_holds(site: Site, comparison: Comparison) -> None:
    places = comparison.places(site)
    assert places
    for text in site.by_hand:
        assert text in comparison.text_by_hand(site.path)
    changed = [place.is_changed for place in places]
    reported = [bool(place.codes) for place in places]
    if site.verdict == "reported":
        assert all(reported)
        assert not any(changed)
    elif site.verdict == "missed":
        assert not any(changed + reported)
    else:
        assert all(changed) or site.why, "what isn't changed needs a reason"
    if site.verdict == "better":
        assert not site.by_hand or site.why


def test_every_line_that_porter_changed_is_there(comparison: Comparison) -> None:
    counted = [(site.path, place.line) for site in SITES for place in comparison.places(site)]
    known = set(counted)
    assert len(counted) == len(known), "a line is counted twice"
    changed = list(comparison.changed())
    assert len(changed) > 80
    assert [line for line in changed if line[:2] not in known] == []


def lines_for_npus(tree: Path) -> Iterator[tuple[str, str]]:
    """Yields each line about NPUs of the port by hand, but for imports and bare guards."""
    for path in sorted(tree.rglob("*.py")):
        for line in path.read_text().splitlines():
            if NPU.search(line) and not SKIPPED.match(line):
                yield path.relative_to(tree).as_posix(), line


def test_every_line_for_npus_by_hand_is_there(comparison: Comparison) -> None:
    lines = list(lines_for_npus(comparison.by_hand))
    assert len(lines) > 50
    missing = [
        (path, line)
        for path, line in lines
        if not any(text in line for site in SITES if site.path == path for text in site.by_hand)
    ]
    assert missing == []
