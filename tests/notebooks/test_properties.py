"""What holds for any notebook: cells put together from the rules' examples and from magics."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from porter.engine.splice import Spliced
from porter.model import Level, Options
from porter.notebooks import rewrite_notebook
from porter.notebooks.document import Document
from porter.notebooks.magics import sort
from tests.notebooks.notebooks import notebook, sources
from tests.notebooks.test_bytes import STYLES
from tests.notebooks.test_magics import LINES

CODE = [
    "import torch",
    "import torch as th\nfrom torch import cuda, nn",
    "from torch.cuda.amp import autocast, GradScaler as GS",
    "x = net(\n    a,  # größe\n    device='cuda',\n).cuda()",
    "with torch.cuda.amp.autocast():\n    y = x.cuda()  # \N{GRINNING FACE}",
    "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')",
    'print(f"{torch.cuda.device_count()}\\n", "\\té", \'"\')',
    "def f(x):\n    '''Doc: x.cuda() on cuda:0.'''\n    return x.cuda()",
    "x = = y.cuda()",
    "torch.cuda.nvtx.mark('a')",
]
PIECES = [
    *CODE,
    *LINES,
    "%%time",
    "%%bash",
    "%%writefile a.py",
    "# cuda",
    "",
    "\u2028 = 1",
    "a\x0c",
]
FUZZ = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)

cells = st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map("\n".join)
texts = st.lists(
    st.one_of(cells, cells.map("{}\n".format), st.text(max_size=30)), min_size=1, max_size=4
)
styles = st.sampled_from(list(STYLES.values()))


@FUZZ
@given(texts, styles)
def test_all_but_the_sources_is_as_it_was(texts: list[str], how: dict[str, Any]) -> None:
    before = notebook(*map(_text, texts), **how)
    result = rewrite_notebook(before, options=Options())
    assert not result.failed
    assert Spliced(before, result.changes).data == result.output
    old, new = (json.loads(data) for data in (before, result.output))
    ported = sources(result.output)
    for one, other in zip(old["cells"], new["cells"], strict=True):
        assert type(one["source"]) is type(other["source"])
        other["source"] = one["source"]
    assert old == new
    # Had the ported cells been written by the same writer, the bytes would be the same.
    assert result.output == notebook(*ported, **how)


@FUZZ
@given(texts, styles)
def test_a_second_run_changes_nothing(texts: list[str], how: dict[str, Any]) -> None:
    once = rewrite_notebook(notebook(*map(_text, texts), **how), options=Options())
    twice = rewrite_notebook(once.output, options=Options())
    assert twice.output is once.output
    assert not [f for f in twice.findings if f.level is Level.REWRITTEN]


@FUZZ
@given(texts, styles)
def test_findings_are_where_they_say(texts: list[str], how: dict[str, Any]) -> None:
    data = notebook(*map(_text, texts), **how)
    document = Document(data)
    bodies = sources(data)
    for finding in rewrite_notebook(data, options=Options()).findings:
        cell = finding.cell
        assert cell is not None
        line = document.text.split("\n")[finding.line - 1]
        body = bodies[cell.number - 1].replace("\r\n", "\n").replace("\r", "\n").split("\n")
        assert body[cell.line - 1] == finding.source
        rest = json.dumps(finding.source[cell.column - 1 :])[1:-1]
        plain = json.dumps(finding.source[cell.column - 1 :], ensure_ascii=False)[1:-1]
        assert line[finding.column - 1 :].startswith((rest, plain))


@FUZZ
@given(st.one_of(cells, st.text()))
def test_each_character_is_one_readers_at_most(source: str) -> None:
    code = sort(source)
    assert len(code.python) == len(code.shell) == len(source)
    for character, python, shell in zip(source, code.python, code.shell, strict=True):
        assert shell in (character, " ")
        assert (python == "\n") == (character == "\n") == (shell == "\n")


@FUZZ
@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists), styles)
def test_the_reader_finds_each_character(value: object, how: dict[str, Any]) -> None:
    settings = {k: v for k, v in how.items() if k != "as_lists"}
    document = {"a": value, "cells": [{"cell_type": "code", "a": value, "source": [str(value)]}]}
    text = json.dumps(document, **settings)
    read = Document(text.encode("utf-8", "surrogatepass"))
    (cell,) = read.cells
    assert cell.source == str(value)
    extents = read.extents(cell)
    assert len(extents) == len(cell.source)
    for character, (start, end) in zip(cell.source, extents, strict=True):
        assert json.loads(f'"{read.text[start:end]}"') == character


def _text(text: str) -> str:
    """Returns a cell's text without what a line of a list isn't split at in Jupyter."""
    return text if text.splitlines() == text.split("\n") else " ".join(text.split())
