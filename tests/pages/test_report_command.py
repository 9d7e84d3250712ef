from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.harness import Porter
from tests.pages import sample


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    sample.on_disk(folder)
    monkeypatch.chdir(folder)
    return folder


def _contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_prints_markdown(porter: Porter, repository: Path) -> None:
    before = _contents(repository)
    result = porter("report", ".")
    assert result.code == 0
    assert result.out.startswith(b"# Portability of project\n")
    assert b"import flash_attn" in result.out
    assert _contents(repository) == before


@pytest.mark.parametrize(("name", "start"), [("r.md", "# "), ("r.json", "{"), ("R.HTML", "<!doc")])
def test_the_name_says_the_format(
    name: str, start: str, porter: Porter, repository: Path, tmp_path: Path
) -> None:
    result = porter("report", ".", "-o", tmp_path / name)
    assert (result.code, result.out) == (0, b"")
    assert (tmp_path / name).read_text().startswith(start)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [name]


def test_json_holds_the_diff(porter: Porter, repository: Path) -> None:
    document = json.loads(porter("report", ".", "--format", "json").out)
    files = {file["path"]: file for file in document["files"]}
    assert "+x = torch.zeros(2).to(accel.device_type)\n" in files["train.py"]["diff"]
    assert [site["state"] for site in files["lib/ops.py"]["sites"]] == ["blocked", "ported"]


def test_selection_holds(porter: Porter, repository: Path) -> None:
    result = porter("report", ".", "--format", "json", "--select", "PTR7", "--exclude", "lib/")
    assert json.loads(result.out)["counts"]["blocked"] == 0


def test_the_diff_is_that_of_rewrite(porter: Porter, repository: Path) -> None:
    (repository / "lib/__init__.py").touch()
    (repository / "pyproject.toml").write_text('[tool.porter]\nvendor = "lib"\n')
    document = json.loads(porter("report", ".", "--format", "json").out)
    told = "".join(file["diff"] for file in document["files"])
    assert told == porter("rewrite", "--dry-run", ".").out.decode()
    assert "+from lib import _accel as accel\n" in told
    assert not (repository / "lib/_accel").exists()


def test_a_broken_file_is_told_and_exits_2(porter: Porter, repository: Path) -> None:
    (repository / "old.py").write_text("print 'cuda'\n")
    result = porter("report", ".")
    assert result.code == 2
    assert b"## Not processed" in result.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-o", "report.txt"], "give --format as well"),
        (["-o", "absent/report.md"], "there is no folder absent"),
        (["-o", "lib"], "is a directory"),
    ],
)
def test_refusals_come_first(
    arguments: list[str], words: str, porter: Porter, repository: Path
) -> None:
    before = _contents(repository)
    result = porter("report", ".", *arguments)
    assert result.code == 2
    assert words in result.err
    assert _contents(repository) == before


def test_without_plotly(porter: Porter, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "plotly", None)
    result = porter("report", ".", "-o", "report.html")
    assert result.code == 2
    assert "pip install 'porter-codemod[report]'" in result.err
    assert not (repository / "report.html").exists()
    assert porter("report", ".").code == 0


def test_rewrite_writes_a_page_beside_its_diff(
    porter: Porter, repository: Path, tmp_path: Path
) -> None:
    before = _contents(repository)
    plain = porter("rewrite", "--dry-run", ".")
    result = porter("rewrite", "--dry-run", ".", "--report", tmp_path / "r.html")
    assert (result.code, result.out) == (0, plain.out)
    assert "the report is in" in result.err
    assert "to(accel.device_type)" in (tmp_path / "r.html").read_text()
    assert _contents(repository) == before


def test_rewrite_in_place_tells_what_is_left(
    porter: Porter, repository: Path, tmp_path: Path
) -> None:
    result = porter("rewrite", ".", "--report", tmp_path / "r.html")
    assert result.code == 0
    assert b"accel" in (repository / "train.py").read_bytes()
    page = (tmp_path / "r.html").read_text()
    assert '"applied":true' in page
    assert "import flash_attn" in page


def test_rewrite_takes_no_page_for_a_source_file(porter: Porter, repository: Path) -> None:
    before = _contents(repository)
    result = porter("rewrite", ".", "--report", "train.py")
    assert result.code == 2
    assert "has to end in .html" in result.err
    assert _contents(repository) == before
