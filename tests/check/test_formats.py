"""What a check prints, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema  # type: ignore[import-untyped]  # its stubs are a package of their own
import pytest

from porter.engine import rewrite_source
from porter.rule import all_rules
from tests.cli.harness import Porter, Repository

DATA = Path(__file__).parent / "data"
TEXT = """\
import torch

größe = x.cuda()
if torch.cuda.is_available():
\tz = net(
\t\ta
\t).cuda()
h = torch.cuda.cudart()  # porter: ignore[PTR202] "NVIDIA" only
# y.cuda() on cuda:0, see https://example.org/torch.cuda
log("moving to cuda:0 with .cuda()")
"""


@pytest.fixture
def sources(folder: Path) -> Path:
    (folder / "a b.py").write_text(TEXT, "utf-8")
    (folder / "broken.py").write_bytes(b"x.cuda(\n")
    return folder


@pytest.fixture
def sarif(porter: Porter) -> Callable[..., Any]:
    """Return a function that runs a check and returns its SARIF log, validated."""
    schema = json.loads((DATA / "sarif-2.1.0-rtm.5.json").read_text("utf-8"))
    validator = jsonschema.Draft4Validator(schema)

    def run(*arguments: str) -> Any:
        log = json.loads(porter("check", "--format", "sarif", *arguments).out)
        assert not [error.message for error in validator.iter_errors(log)]
        (only,) = log["runs"]
        return only

    return run


def test_text(sources: Path, porter: Porter) -> None:
    result = porter("check", "a b.py")
    summary = next(rule.summary for rule in all_rules() if rule.code == "PTR101")
    lines = result.out.decode().splitlines()
    assert lines[:4] == [
        f"a b.py:3:9: PTR101 {summary}",
        "  3 | größe = x.cuda()",
        "    |         ^^^^^^^^",
        "    = write x.to(accel.device_type)",
    ]
    assert "a b.py:7:4: PTR101" in lines[8]
    assert lines[9:11] == ["  7 | \t).cuda()", "    | \t  ^^^^^^"]
    assert lines[-2:] == ["3 findings in 1 file", "3 findings to be fixed by `porter check --fix`"]


def test_a_remark_of_a_site_follows_what_its_rule_says(folder: Path, porter: Porter) -> None:
    (folder / "a.py").write_text("import torch\nassert torch.cuda.is_available()\n")
    summary = next(rule.summary for rule in all_rules() if rule.code == "PTR201")
    first = porter("check", "--all", "a.py").out.decode().splitlines()[0]
    assert first.startswith(f"a.py:2:8: PTR201 {summary} This assertion still refuses")


def test_nothing_found_is_nothing_said(folder: Path, porter: Porter) -> None:
    (folder / "a.py").write_text("# torch.cuda\nlog('x.cuda() runs on cuda:0')\n")
    assert porter("check", "--all") == porter("check", "--all", "a.py")
    result = porter("check", "--all")
    assert (result.code, result.out, result.err) == (0, b"", "")


@pytest.mark.parametrize(
    ("line", "excerpt", "carets"),
    [
        ("数 = 装置.cuda()", "  1 | 数 = 装置.cuda()", "    |      ^^^^^^^^^^^"),
        ("a = '\x1b[31m', x.cuda()", "  1 | a = '\N{REPLACEMENT CHARACTER}[31m', x.cuda()", ""),
    ],
)
def test_wide_characters_and_control_characters(
    folder: Path, porter: Porter, line: str, excerpt: str, carets: str
) -> None:
    (folder / "a.py").write_text(line + "\n", "utf-8")
    lines = porter("check", "--all").out.decode().splitlines()
    assert lines[1] == excerpt
    if carets:
        assert lines[2] == carets


def test_long_lines_are_cut_around_the_finding(folder: Path, porter: Porter) -> None:
    (folder / "a.py").write_text(f"a = [{'1, ' * 300}x.cuda(), {'2, ' * 300}]\n")
    lines = porter("check", "--all").out.decode().splitlines()
    source, carets = lines[1].split("| ")[1], lines[2].split("| ")[1]
    assert len(source) == 160
    assert source[carets.index("^") : carets.rindex("^") + 1] == "x.cuda()"


def test_statistics_and_exit_zero(sources: Path, porter: Porter) -> None:
    result = porter("check", "--all", "a b.py", "--statistics", "--exit-zero")
    assert result.code == 0
    assert result.out.decode().splitlines()[0].startswith("2 PTR101 tensor-cuda: ")
    assert porter("check", "--all", "--exit-zero").code == 2  # a file could not be processed


def test_json(sources: Path, porter: Porter) -> None:
    document = json.loads(porter("check", "--all", "--format", "json").out)
    first, second = document["files"]
    assert (first["path"], second["path"]) == ("a b.py", "broken.py")
    assert [f["level"] for f in first["findings"]] == ["rewritten"] * 3
    assert [f["level"] for f in second["findings"]] == ["error"]
    assert [(s["code"], s["line"], s["reason"]) for s in first["suppressed"]] == [
        ("PTR202", 8, '"NVIDIA" only')
    ]
    assert document["summary"] == {
        "scanned": 2,
        "findings": 3,
        "suppressed": 1,
        "known": 0,
        "stale": 0,
        "fixed": 0,
        "errors": 1,
    }


def test_github(sources: Path, porter: Porter) -> None:
    (sources / "a,b:c%.py").write_bytes(b"x.cuda()\n")
    lines = porter("check", "--all", "--format", "github").out.decode().splitlines()
    assert lines[0].startswith(
        "::error file=a b.py,line=3,endLine=3,col=9,endColumn=17,title=porter PTR101::"
    )
    assert lines[0].endswith("Write: x.to(accel.device_type)")
    assert any(line.startswith("::error file=a%2Cb%3Ac%25.py,line=1,") for line in lines)
    assert len(lines) == 5


def test_junit(sources: Path, porter: Porter) -> None:
    suite = ElementTree.fromstring(porter("check", "--all", "--format", "junit").out)
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "3", "1")
    assert [len(case.findall("failure")) for case in suite] == [3, 0]
    assert [len(case.findall("error")) for case in suite] == [0, 1]


def test_sarif(sources: Path, sarif: Callable[..., Any]) -> None:
    run = sarif("--all")
    assert run["invocations"][0]["executionSuccessful"] is False
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert {rule.code for rule in all_rules()} <= rules.keys()
    assert "x.to(accel.device_type)" in rules["PTR101"]["help"]["text"]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    fresh = [r for r in run["results"] if "suppressions" not in r]
    kept = [r for r in run["results"] if "suppressions" in r]
    assert [r["ruleId"] for r in fresh] == ["PTR101", "PTR201", "PTR101", "PTR000"]
    (only,) = kept
    assert only["suppressions"] == [{"kind": "inSource", "justification": '"NVIDIA" only'}]
    uri = fresh[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "a%20b.py"
    prints = [r["partialFingerprints"]["porterSourceLine/v1"] for r in run["results"]]
    assert len(set(prints)) == len(prints)


def test_a_sarif_fix_is_the_port_of_its_site(sources: Path, sarif: Callable[..., Any]) -> None:
    text = TEXT.replace("\r", "")
    for result in sarif("--all", "a b.py")["results"]:
        if "fixes" not in result:
            continue
        region = result["locations"][0]["physicalLocation"]["region"]
        place = (region["startLine"], region["startColumn"])
        (change,) = result["fixes"][0]["artifactChanges"]
        fixed = text
        for each in sorted(change["replacements"], key=lambda r: -r["deletedRegion"]["startLine"]):
            deleted = each["deletedRegion"]
            start = offset(text, deleted["startLine"], deleted["startColumn"])
            end = offset(text, deleted["endLine"], deleted["endColumn"])
            fixed = fixed[:start] + each["insertedContent"]["text"] + fixed[end:]
        only = rewrite_source(
            text.encode(),
            only=lambda f, place=place: (f.line, f.column) == place,  # type: ignore[misc]
        )
        assert fixed == only.output.decode()


def offset(text: str, line: int, column: int) -> int:
    lines = text.splitlines(keepends=True)
    return sum(map(len, lines[: line - 1])) + column - 1


def test_sarif_with_a_baseline(
    repository: Repository, porter: Porter, sarif: Callable[..., Any]
) -> None:
    repository.write("a.py", b"import torch\nx = y.cuda()\n")
    porter("check", "--baseline", "base.json", "--write-baseline")
    repository.write("a.py", b"import torch\nx = y.cuda()\nx = y.cuda()\n")
    results = sarif("--baseline", "base.json")["results"]
    assert [(r["baselineState"], "suppressions" in r) for r in results] == [
        ("new", False),
        ("unchanged", True),
    ]


def test_per_file_ignores(folder: Path, porter: Porter) -> None:
    for name in ("a.py", "tests/a.py", "tests/deep/b.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"import torch\nx = y.cuda()\nd = torch.device('cuda')\n")
    (folder / "pyproject.toml").write_text(
        '[tool.porter.per-file-ignores]\n"tests/" = ["PTR101"]\n"tests/deep/*.py" = ["PTR3"]\n'
    )
    found = porter("check", "--all", "--format", "json")
    assert {
        file["path"]: [finding["line"] for finding in file["findings"]]
        for file in json.loads(found.out)["files"]
    } == {"a.py": [2, 3], "tests/a.py": [3]}
    assert porter("rewrite", ".").code == 0
    assert b"y.cuda()" in (folder / "tests/a.py").read_bytes()
    assert b"torch.device(accel.device_type)" in (folder / "tests/a.py").read_bytes()
    assert b"accel" not in (folder / "tests/deep/b.py").read_bytes()


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_every_number_of_workers_says_the_same(folder: Path, porter: Porter, jobs: str) -> None:
    for number in range(9):
        (folder / f"{number}.py").write_bytes(b"x.cuda()\n" * number)
    document = json.loads(porter("check", "--all", "--format", "json", "--jobs", jobs).out)
    assert [len(file["findings"]) for file in document["files"]] == list(range(1, 9))
