"""`porter rewrite` and `porter check` over notebooks."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema  # type: ignore[import-untyped]  # its stubs are a package of their own
import pytest

from porter.check.dismiss import dismiss
from tests.cli.harness import Porter, Repository
from tests.notebooks.notebooks import notebook, sources

SCHEMA = Path(__file__).parents[1] / "check/data/sarif-2.1.0-rtm.5.json"
CELLS = ("# markdown\ntorch.cuda", "import torch", "größe = 1\nif x:\n    y = größe.cuda()\n")
LINE = 48
"""Where in the JSON text of a notebook of CELLS the third cell's third line stands."""
PORTED = (
    CELLS[0],
    "import torch\nimport porter_runtime as accel",
    CELLS[2].replace("cuda()", "to(accel.device_type)"),
)

Flagged = Callable[..., list[str]]


@pytest.fixture
def path(repository: Repository) -> Path:
    """Returns a notebook in a repository with nothing staged."""
    return repository.write("a b.ipynb", notebook(*CELLS))


def test_the_line_is_where_the_tests_say(path: Path) -> None:
    assert path.read_text("utf-8").splitlines()[LINE - 1] == '    "    y = größe.cuda()\\n"'


def test_rewrite(repository: Repository, porter: Porter, path: Path) -> None:
    repository.commit()
    done = porter("rewrite", "-v", ".")
    assert done.code == 0
    assert path.read_bytes() == notebook(*PORTED)
    assert b"a b.ipynb:cell 3:3:9: PTR101" in done.out
    assert b"1 file scanned, 1 changed" in done.out
    assert porter("rewrite", "--allow-dirty", ".").out.startswith(b"1 file scanned, 0 changed")


def test_the_diff_of_a_dry_run_applies(repository: Repository, porter: Porter, path: Path) -> None:
    diff = porter("rewrite", "--dry-run", ".").out
    assert path.read_bytes() == notebook(*CELLS)
    subprocess.run(["git", "apply"], input=diff, check=True)
    assert path.read_bytes() == notebook(*PORTED)
    assert diff.count(b"\n@@ ") == 2


def test_rewrite_as_json(porter: Porter, path: Path) -> None:
    document = json.loads(porter("rewrite", "--dry-run", "--format", "json", ".").out)
    (finding,) = document["files"][0]["findings"]
    assert (finding["line"], finding["source"]) == (LINE, "    y = größe.cuda()")
    assert finding["cell"] == {
        "number": 3,
        "line": 3,
        "column": 9,
        "end_line": 3,
        "end_column": 21,
    }


def test_check_names_the_cell_and_its_line(porter: Porter, path: Path) -> None:
    lines = porter("check", "--all").out.decode().splitlines()
    assert lines[0].startswith("a b.ipynb:cell 3:3:9: PTR101 ")
    assert lines[1:4] == [
        "  3 |     y = größe.cuda()",
        "    |         ^^^^^^^^^^^^",
        "    = write größe.to(accel.device_type)",
    ]


def test_check_for_programs(porter: Porter, path: Path) -> None:
    (annotation,) = porter("check", "--all", "--format", "github").out.decode().splitlines()
    assert f"file=a b.ipynb,line={LINE},endLine={LINE},col=14," in annotation
    assert "::cell 3, line 3: " in annotation
    suite = ElementTree.fromstring(porter("check", "--all", "--format", "junit").out)
    (failure,) = suite.iter("failure")
    assert "cell 3, line 3: " in failure.attrib["message"]
    (file,) = json.loads(porter("check", "--all", "--format", "json").out)["files"]
    (finding,) = file["findings"]
    assert (finding["line"], finding["cell"]["number"], finding["cell"]["line"]) == (LINE, 3, 3)


def test_sarif_fixes_lead_to_the_port(porter: Porter, path: Path) -> None:
    log = json.loads(porter("check", "--all", "--format", "sarif").out)
    validator = jsonschema.Draft4Validator(json.loads(SCHEMA.read_text("utf-8")))
    assert not [error.message for error in validator.iter_errors(log)]
    (result,) = log["runs"][0]["results"]
    (location,) = result["locations"]
    assert location["logicalLocations"] == [{"name": "cell 3", "fullyQualifiedName": "cell 3:3:9"}]
    assert location["physicalLocation"]["region"]["startLine"] == LINE
    (change,) = result["fixes"][0]["artifactChanges"]
    text = path.read_text("utf-8")
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for replacement in sorted(change["replacements"], key=_start, reverse=True):
        region = replacement["deletedRegion"]
        start = starts[region["startLine"] - 1] + region["startColumn"] - 1
        end = starts[region["endLine"] - 1] + region["endColumn"] - 1
        text = text[:start] + replacement["insertedContent"]["text"] + text[end:]
    assert text.encode() == notebook(*PORTED)


def _start(replacement: dict[str, Any]) -> tuple[int, int]:
    region = replacement["deletedRegion"]
    return region["startLine"], region["startColumn"]


def test_old_lines_are_left_in_peace(repository: Repository, flagged: Flagged) -> None:
    path = repository.write("a.ipynb", notebook("import torch\nx.cuda()", "y.cuda()\n1", "2"))
    repository.commit()
    # The old last line of a cell gets a newline and a comma when something is put behind it.
    path.write_bytes(
        notebook("import torch\nx.cuda()\nnew = 1", "0\ny.cuda()\n1", "2\nz.cuda()", "v.cuda()")
    )
    repository.git("add", ".")
    assert [entry.partition(" ")[2] for entry in flagged()] == ["PTR101", "PTR101"]
    assert flagged("--diff-base", "HEAD") == flagged()
    assert len(flagged("--all")) == 4
    path.write_bytes(notebook("import torch\nx.cuda()"))
    repository.git("add", ".")
    assert flagged("--staged") == []


def test_a_new_argument_of_an_old_call_is_not_a_new_call(
    repository: Repository, flagged: Flagged
) -> None:
    before = "import torch\nx = net(\n    a,\n    b=1,\n).cuda()"
    path = repository.write("a.ipynb", notebook(before))
    repository.commit()
    path.write_bytes(notebook(before.replace("b=1", "b=2")))
    repository.git("add", ".")
    assert flagged() == []
    path.write_bytes(notebook(before.replace("cuda()", "cuda(0)")))
    repository.git("add", ".")
    assert len(flagged()) == 1


def test_json_is_as_old_as_it_was_before_the_comma(
    repository: Repository, flagged: Flagged
) -> None:
    path = repository.write("train.json", b'{\n  "lr": 1,\n  "device": "cuda"\n}\n')
    repository.commit()
    path.write_bytes(b'{\n  "lr": 1,\n  "device": "cuda",\n  "steps": 1\n}\n')
    repository.git("add", ".")
    assert flagged() == []
    path.write_bytes(b'{\n  "lr": 1,\n  "device": "cuda:1",\n  "steps": 1\n}\n')
    repository.git("add", ".")
    assert len(flagged()) == 1


def test_fix_ports_what_is_new_and_no_more(repository: Repository, porter: Porter) -> None:
    path = repository.write("a.ipynb", notebook("import torch\nx.cuda()", "1"))
    repository.commit()
    path.write_bytes(notebook("import torch\nx.cuda()", "y.cuda()"))
    repository.git("add", ".")
    assert porter("check", "--fix").code == 1
    assert sources(path.read_bytes()) == [
        "import torch\nimport porter_runtime as accel\nx.cuda()",
        "y.to(accel.device_type)",
    ]


def test_a_baseline_holds_what_moves_to_another_cell(folder: Path, porter: Porter) -> None:
    path = folder / "a.ipynb"
    path.write_bytes(notebook("import torch\nx.cuda()"))
    arguments = ["check", "--baseline", "known.json"]
    assert porter(*arguments, "--write-baseline").code == 0
    path.write_bytes(notebook("import torch", "1\nx.cuda()\n2"))
    assert porter(*arguments).code == 0
    path.write_bytes(notebook("import torch", "x.cuda()", "y.cuda()"))
    assert b"a.ipynb:cell 3:1:1: PTR101" in porter(*arguments).out


def test_the_content_that_is_staged_is_judged(repository: Repository, porter: Porter) -> None:
    path = repository.write("a.ipynb", notebook("import torch", "x.cuda()"))
    repository.git("add", ".")
    path.write_bytes(notebook("import torch"))
    done = porter("check", "a.ipynb")
    assert done.code == 1
    assert b"a.ipynb:cell 2:1:1: PTR101" in done.out


def test_a_quiet_notebook_is_dismissed_whatever_its_words_in_json(folder: Path) -> None:
    path = folder / "a.ipynb"
    quiet = notebook("import torch\nimport os", "x = torch.ones(1)")
    path.write_bytes(quiet.replace(b"cuda", b"cpu"))
    assert dismiss(["a.ipynb"])
    for source in ("import apex", "from torch import GradScaler", "f(pin_memory=True)"):
        path.write_bytes(notebook(source).replace(b"cuda", b"cpu"))
        assert not dismiss(["a.ipynb"]), source


def test_untracked_configuration_does_not_hold_up_a_port(
    repository: Repository, porter: Porter
) -> None:
    repository.write("a.ipynb", notebook("import torch\nx.cuda()"))
    repository.commit()
    repository.write("train.yaml", b"device: cuda\n")
    assert porter("rewrite", "--dry-run", ".").code == 0
    assert porter("rewrite", "--configs", ".").code == 2
    assert porter("rewrite", ".").code == 0
