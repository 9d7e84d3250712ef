"""Everything but the ported expressions is, byte for byte, as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from porter.engine.splice import Spliced
from porter.model import Level, Options
from porter.notebooks import rewrite_notebook
from porter.notebooks.splice import Speller, Spelt
from tests.notebooks.notebooks import notebook, port, sources

CELLS = (
    "# markdown\nCall `x.cuda()` on cuda:0.",
    'import torch\nname = "größe \\t 1/2"  # naïve\nx = torch.ones(1).cuda()',
    "y = net(\n    x,  # é\n    device='cuda',\n)\n",
)
PORTED = [
    CELLS[0],
    'import torch\nimport porter_runtime as accel\nname = "größe \\t 1/2"  # naïve\n'
    "x = torch.ones(1).to(accel.device_type)",
    "y = net(\n    x,  # é\n    device=accel.device_type,\n)\n",
]
STYLES: dict[str, dict[str, Any]] = {
    "as Jupyter writes it": {},
    "indented by 4": {"indent": 4},
    "by a tab": {"indent": "\t"},
    "on one line": {"indent": None},
    "without blanks": {"indent": None, "separators": (",", ":")},
    "in ASCII": {"ensure_ascii": True},
    "sources as strings": {"as_lists": False},
    "strings in ASCII on one line": {"as_lists": False, "ensure_ascii": True, "indent": None},
    "with sorted keys": {"sort_keys": True},
}


@pytest.mark.parametrize("how", STYLES.values(), ids=STYLES)
@pytest.mark.parametrize("ending", [b"", b"\n", b"\n\n"])
def test_the_port_is_what_the_same_writer_makes_of_the_ported_cells(
    how: dict[str, Any], ending: bytes
) -> None:
    before = notebook(*CELLS, **how).rstrip(b"\n") + ending
    assert port(before).output == notebook(*PORTED, **how).rstrip(b"\n") + ending


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_bom(bom: bytes) -> None:
    before, after = (notebook(*cells).replace(b"\n", b"\r\n") for cells in (CELLS, PORTED))
    assert port(bom + before).output == bom + after


def test_odd_spellings_stay() -> None:
    r"""`\/`, `\u0061`, surrogate pairs: what isn't changed is written as it was."""
    before = (
        rb'{"nbformat": 4, "cells": [{"cell_type": "code", "outputs": [NaN, 1e5, 1.0, "\u00e9"],'
        rb' "source": ["import torch\n" , "x = f(\u0061, \"\/\ud83d\ude00\", device=\"cuda\",\n",'
        rb'   "  b=\u0062)"]}], "metadata": {}}'
    )
    after = (
        rb'{"nbformat": 4, "cells": [{"cell_type": "code", "outputs": [NaN, 1e5, 1.0, "\u00e9"],'
        rb' "source": ["import torch\n" , "import porter_runtime as accel\n" ,'
        rb' "x = f(\u0061, \"\/\ud83d\ude00\", device=accel.device_type,\n",'
        rb'   "  b=\u0062)"]}], "metadata": {}}'
    )
    assert port(before).output == after


def test_a_source_in_other_pieces_than_lines_keeps_them() -> None:
    before = notebook("import torch\nx.cuda()\ny = 1")
    document = json.loads(before)
    document["cells"][0]["source"] = ["import torch\nx.cu", "da()\n", "", "y = 1"]
    after = json.loads(port(json.dumps(document).encode()).output)["cells"][0]["source"]
    assert "".join(after) == (
        "import torch\nimport porter_runtime as accel\nx.to(accel.device_type)\ny = 1"
    )
    assert after[-2:] == ["", "y = 1"]


@pytest.mark.parametrize("as_lists", [True, False])
@pytest.mark.parametrize("source", ["x.cuda()", "x.cuda()\n", "import torch", "import torch\n"])
def test_the_import_at_either_end_of_a_cell(source: str, as_lists: bool) -> None:
    cells = [source, "import torch\nx.cuda()"] if "x" in source else [source, "x.cuda()"]
    after = port(notebook(*cells, as_lists=as_lists)).output
    assert after == notebook(*sources(after), as_lists=as_lists)
    assert "".join(sources(after)).count("import porter_runtime as accel") == 1


def test_an_import_that_is_split_in_two() -> None:
    before = notebook("from torch.cuda import synchronize, CUDAGraph\nsynchronize()")
    after = notebook(
        "from torch.cuda import CUDAGraph\nfrom porter_runtime import synchronize\nsynchronize()"
    )
    assert port(before).output == after


def test_nothing_to_port_is_the_same_object() -> None:
    for data in (notebook("import torch\nx.cpu()"), notebook("# markdown\nx.cuda()"), b"{}", b""):
        assert rewrite_notebook(data, options=Options()).output is data


def test_changes_lead_from_the_old_bytes_to_the_new_ones() -> None:
    before = notebook(*CELLS)
    result = port(before)
    assert Spliced(before, result.changes).data == result.output
    assert [change.kind for change in result.changes].count("insertion") == 1


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"cells": [x.cuda()]}', "not JSON"),
        (b'{"cells": [] } cuda', "not JSON"),
        (b'{"cells": [{"source": ["cuda"', "not JSON"),
        (b'{"cells": [{"source": 1}], "a": "cuda"}', "not JSON"),
        (b"\xff\xfe cuda", "not UTF-8"),
        (b'["cuda"]', "not JSON"),
        (b'{"worksheets": [{"cells": ["cuda"]}]}', "format 4"),
        (b'{"cuda": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested"),
    ],
)
def test_what_is_no_notebook_is_reported_and_left(data: bytes, reason: str) -> None:
    result = rewrite_notebook(data, options=Options())
    assert result.output is data
    (finding,) = result.findings
    assert finding.level is Level.ERROR
    assert reason in finding.message


def test_of_a_key_that_stands_twice_the_last_counts() -> None:
    twice = b'{"cells": [], "cells": [{"cell_type": "code", "source": "", "source": "x.cuda()"}]}'
    assert sources(port(twice).output) == [
        "import porter_runtime as accel\nx.to(accel.device_type)"
    ]


def test_what_stays_inside_of_an_edit_keeps_its_spelling() -> None:
    r"""The whole of a call is edited here; `\u00e9` stays although the notebook has ö as well."""
    before = (
        r"import torch\n",
        r"# ö\n",
        r"x = f(\u00e9, a.cuda(),\n",
        r"  \"\u00e9\/\", b.cuda()).cuda()",
    )
    after = (
        r"import torch\n",
        r"import porter_runtime as accel\n",
        r"# ö\n",
        r"x = f(\u00e9, a.to(accel.device_type),\n",
        r"  \"\u00e9\/\", b.to(accel.device_type)).to(accel.device_type)",
    )
    assert port(_spelt(before)).output == _spelt(after)


def _spelt(lines: tuple[str, ...]) -> bytes:
    source = ",\n  ".join(f'"{line}"' for line in lines)
    return f'{{"cells": [{{"cell_type": "code", "source": [\n  {source}]}}]}}'.encode()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda spelt: replace(spelt, text=spelt.text + "x"),
        lambda spelt: replace(spelt, text=spelt.text + '"'),
        lambda spelt: replace(spelt, text=spelt.text + '", "'),
        lambda spelt: replace(spelt, start=spelt.start - 1),
        lambda spelt: replace(spelt, start=spelt.start - 40),
        lambda spelt: replace(spelt, end=spelt.end + 60),
    ],
)
def test_a_port_that_went_wrong_leaves_the_notebook(
    monkeypatch: pytest.MonkeyPatch, spoil: Callable[[Spelt], Spelt]
) -> None:
    spell = Speller.spell
    monkeypatch.setattr(Speller, "spell", lambda self, edit: spoil(spell(self, edit)))
    before = notebook("import torch\nx = [1, 2]", "f(a, device='cuda')")
    result = rewrite_notebook(before, options=Options())
    assert result.output is before
    (finding,) = result.findings
    assert finding.level is Level.ERROR
    assert "please report it" in finding.message
