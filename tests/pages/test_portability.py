from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from porter.catalogue import catalogue
from porter.model import Cell, Level
from porter.pages.portability import as_json, portability
from porter.pages.states import BLOCKING, Counts, State
from porter.report import FileReport, Report
from tests.pages import sample


def test_sums_up() -> None:
    told = portability(sample.small(), [Path()])
    assert told.counts == Counts(ported=3, person=1, blocked=1, note=2, error=1)
    assert told.counts.sites == 5
    assert told.counts.share == pytest.approx(0.6)
    assert (told.scanned, told.with_sites, told.done) == (9, 2, 1)


def test_folders_hold_the_sum_of_all_below() -> None:
    told = portability(sample.small(), [Path()])
    by_path = {folder.path: folder.counts.sites for folder in told.folders}
    assert by_path == {"": 5, "src": 5, "src/lib": 2, "tools": 0}


def test_rules_by_subject() -> None:
    told = portability(sample.small(), [Path()])
    prefixes = {subject.prefix: [rule.code for rule in subject.rules] for subject in told.subjects}
    assert prefixes == {
        "PTR0": ["PTR000"],
        "PTR1": ["PTR101"],
        "PTR2": ["PTR202"],
        "PTR6": ["PTR605", "PTR609"],
        "PTR7": ["PTR701"],
    }
    assert sum(s.counts.sites for s in told.subjects) == told.counts.sites


def test_every_rule_has_a_subject_with_a_title() -> None:
    codes = [rule.code for rule in catalogue()]
    findings = tuple(sample.finding(1, "x", code) for code in codes)
    told = portability(Report(1, [FileReport("a.py", findings)]), [Path()])
    assert all(subject.title != subject.prefix for subject in told.subjects)
    assert [rule.code for subject in told.subjects for rule in subject.rules] == codes
    assert all(rule.summary for subject in told.subjects for rule in subject.rules)


def test_only_what_is_left_blocks() -> None:
    for code in BLOCKING:
        assert State.of(sample.finding(1, "x", code, Level.MANUAL)) is State.BLOCKED
        assert State.of(sample.finding(1, "x", code, Level.NOTE)) is State.NOTE
    assert {rule.code for rule in catalogue()} >= BLOCKING


def test_nothing_found_has_no_share() -> None:
    told = portability(Report(3), [Path()])
    assert told.counts.share is None
    assert [folder.path for folder in told.folders] == [""]


@pytest.mark.parametrize(
    ("given", "root", "names"),
    [
        (["repo"], "repo", ["a.py", "lib/b.py"]),
        (["repo/a.py", "repo/lib"], "repo", ["a.py", "lib/b.py"]),
        (["repo/a.py"], "repo", ["a.py", "lib/b.py"]),
        (["."], ".", ["repo/a.py", "repo/lib/b.py"]),
    ],
)
def test_paths_are_relative_to_what_was_given(
    given: list[str], root: str, names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "repo/lib").mkdir(parents=True)
    paths = ["repo/a.py", "repo/lib/b.py"]
    for path in paths:
        Path(path).touch()
    files = [FileReport(path, (sample.finding(1, "x"),)) for path in paths]
    told = portability(Report(2, files), [Path(path) for path in given])
    assert told.root == root
    assert [file.path for file in told.files] == names
    assert told.name == (tmp_path.name if root == "." else "repo")


def test_absolute_and_relative_paths_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    files = [
        FileReport(path, (sample.finding(1, "x"),)) for path in ("a/x.py", f"{tmp_path}/b/y.py")
    ]
    told = portability(Report(2, files), [Path("a"), tmp_path / "b"])
    assert told.counts.sites == 2
    assert {folder.path: folder.counts.sites for folder in told.folders} == {"": 2, "a": 1, "b": 1}


def test_excerpt_shows_the_lines_around(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("".join(f"line {number}\n" for number in range(1, 20)))
    report = Report(1, [FileReport(str(path), (sample.finding(10, "line 10"),))])
    (site,) = portability(report, [tmp_path]).files[0].sites
    assert site.excerpt is not None
    assert (site.excerpt.first, site.excerpt.lines[3]) == (7, "line 10")
    assert len(site.excerpt.lines) == 7


def test_no_excerpt_of_what_has_changed_since(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("other\nlines\n")
    found = (sample.finding(1, "line 1"), sample.finding(99, "line 99"))
    sites = portability(Report(1, [FileReport(str(path), found)]), [tmp_path]).files[0].sites
    assert [site.excerpt for site in sites] == [None, None]


def test_a_finding_in_a_notebook_is_told_by_its_cell(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text("x.cuda()\n" * 9)
    cell = Cell(number=3, line=2, column=3, end_line=2, end_column=9)
    found = dataclasses.replace(sample.finding(5, "x.cuda()"), cell=cell)
    report = Report(1, [FileReport(str(path), (found,))])
    (site,) = portability(report, [tmp_path]).files[0].sites
    assert (site.place, site.line, site.mark) == ("cell 3:2:3", 5, (2, 8))
    assert site.excerpt is None


def test_a_very_long_line_is_cut_around_the_site() -> None:
    line = f"{'x' * 5000}y.cuda(){'z' * 5000}"
    report = Report(1, [FileReport("a.py", (sample.finding(1, line, column=5001),))])
    (site,) = portability(report, [Path()]).files[0].sites
    assert len(site.source) <= 302
    assert site.source[site.mark[0] :].startswith("y.cuda()")
    assert (site.source[0], site.source[-1]) == ("…", "…")


def test_json_says_all_of_it() -> None:
    document = json.loads(as_json(portability(sample.small(), [Path()])))
    assert document["version"] == 1
    assert document["counts"] == {"ported": 3, "person": 1, "blocked": 1, "note": 2, "error": 1}
    assert document["files"][1]["sites"][0]["replacement"] == "x.to(accel.device_type)"
    assert document["files"][1]["diff"].startswith("diff --git a/src/train.py")
    assert document["skipped"][0]["path"] == "link.py"
    assert {site["state"] for file in document["files"] for site in file["sites"]} == {
        state.value for state in State
    }


def test_json_of_hostile_names_is_ascii() -> None:
    text = as_json(portability(sample.hostile(), [Path()]))
    assert text.isascii()
    assert [file["path"] for file in json.loads(text)["files"]] == list(sample.HOSTILE_NAMES)
