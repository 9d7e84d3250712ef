"""The cells of a notebook are one program: names, imports, pragmas, and what can't be read."""

from __future__ import annotations

import json

import pytest

from porter.model import Level, Options, Shim
from porter.notebooks import rewrite_notebook
from tests.notebooks.notebooks import codes, left, notebook, port, ported, sources

IMPORT = "import porter_runtime as accel"


def test_names_are_shared_between_cells() -> None:
    assert ported(
        "import torch as th\nfrom torch import cuda",
        "dev = th.device('cuda')",
        "cuda.synchronize()\nx = th.ones(1, device=dev)",
    ) == [
        f"import torch as th\nfrom torch import cuda\n{IMPORT}",
        "dev = th.device(accel.device_type)",
        "accel.synchronize()\nx = th.ones(1, device=dev)",
    ]


def test_the_import_goes_into_the_first_cell_that_imports_torch() -> None:
    after = ported("import os", "import torch", "import torch.nn as nn", "x = net.cuda()")
    assert after == [
        "import os",
        f"import torch\n{IMPORT}",
        "import torch.nn as nn",
        "x = net.to(accel.device_type)",
    ]


def test_a_use_before_torch_is_imported_gets_the_import_first() -> None:
    after = ported(
        "import os\nv = os.environ.get('CUDA_VISIBLE_DEVICES')", "import torch\nx.cuda()"
    )
    assert after == [
        f"import os\n{IMPORT}\nv = os.environ.get(accel.visible_devices_env)",
        "import torch\nx.to(accel.device_type)",
    ]


def test_a_name_of_the_users_own_anywhere_in_the_notebook_is_taken() -> None:
    after = ported("import torch\nx.cuda()", "accel = Accelerator()")
    assert after[0] == (
        "import torch\nimport porter_runtime as porter_accel\nx.to(porter_accel.device_type)"
    )


def test_the_shim_may_be_a_copy() -> None:
    shim = Shim(package="pkg", module="_accel")
    result = port(notebook("import torch\nx.cuda()"), shim=shim)
    assert sources(result.output) == [
        "import torch\nfrom pkg import _accel as accel\nx.to(accel.device_type)"
    ]


def test_what_belongs_together_is_kept_together_across_cells() -> None:
    before = (
        "import argparse, torch\np = argparse.ArgumentParser()",
        "p.add_argument('--device', default='cuda', choices=['cuda', 'cpu'])",
    )
    together = ported(*before)
    assert together[1].count("accel.device_type") == 2


def test_a_cell_that_is_no_python_is_named_and_the_others_go_on() -> None:
    result = port(notebook("import torch", "x = = y.cuda()\n", "class :", "z.cuda()"))
    assert sources(result.output) == [
        f"import torch\n{IMPORT}",
        "x = = y.cuda()\n",
        "class :",
        "z.to(accel.device_type)",
    ]
    assert left(result) == ["cell 2:1:5 PTR000"]
    assert not result.failed
    (finding,) = (f for f in result.findings if f.level is Level.MANUAL)
    assert "the whole cell is left" in finding.message
    assert finding.source == "x = = y.cuda()"


def test_an_indented_cell_is_one_that_ipython_runs() -> None:
    assert ported("import torch", "  x.cuda()\n  if y:\n    z.cuda()\n") == [
        f"import torch\n{IMPORT}",
        "  x.to(accel.device_type)\n  if y:\n    z.to(accel.device_type)\n",
    ]
    assert ported("  import torch\n  x.cuda()") == [
        f"  import torch\n  {IMPORT}\n  x.to(accel.device_type)"
    ]


def test_awaiting_at_the_top_level() -> None:
    before = "import torch\ny = await f(x.cuda())\nasync with g() as h:\n    h.cuda()"
    (after,) = ported(before)
    assert after == (
        f"import torch\n{IMPORT}\ny = await f(x.to(accel.device_type))\n"
        "async with g() as h:\n    h.to(accel.device_type)"
    )


def test_a_coding_cookie_means_nothing_in_a_notebook() -> None:
    (after,) = ported("# -*- coding: latin-1 -*-\nimport torch\nf('é', x.cuda())")
    assert after.endswith("f('é', x.to(accel.device_type))")


def test_half_a_character_costs_its_cell() -> None:
    before = notebook("import torch\nx.cuda()", "f('@').cuda()").replace(b"@", rb"\ud83d")
    after = notebook(f"import torch\n{IMPORT}\nx.to(accel.device_type)", "f('@').cuda()")
    result = port(before)
    assert result.output == after.replace(b"@", rb"\ud83d")
    assert left(result) == ["cell 2:1:4 PTR000"]


def test_pragmas_keep_lines_and_notebooks() -> None:
    result = port(
        notebook(
            "import torch\nx.cuda()  # porter: ignore[PTR101] NVIDIA's",
            "# porter: ignore[PTR101] the next line",
            "y.cuda()\n# porter: ignore[PTR101] idle",
            "z.cuda()",
        )
    )
    assert sources(result.output)[0].endswith("x.cuda()  # porter: ignore[PTR101] NVIDIA's")
    assert sources(result.output)[2].startswith("y.cuda()")
    assert sources(result.output)[3] == "z.to(accel.device_type)"
    assert [s.finding.place for s in result.suppressed] == ["cell 1:2:1", "cell 3:1:1"]
    assert left(result) == ["cell 3:2:1 PTR002"]
    whole = notebook("x.cuda()", "# porter: skip-file mine")
    assert port(whole).output == whole


def test_only_what_is_asked_for_is_ported() -> None:
    before = notebook("import torch\nx.cuda()", "y.cuda()")
    result = rewrite_notebook(
        before, options=Options(), only=lambda f: f.cell is not None and f.cell.number == 2
    )
    assert sources(result.output) == [
        f"import torch\n{IMPORT}\nx.cuda()",
        "y.to(accel.device_type)",
    ]
    assert codes(port(before, select=("PTR2",)).findings) == []


@pytest.mark.parametrize("language", ["R", "julia", "C++17", "bash"])
def test_other_languages_are_left_alone(language: str) -> None:
    data = notebook("x.cuda()", "!nvidia-smi", language=language)
    result = port(data)
    assert (result.output, result.findings) == (data, ())


def test_a_cell_in_another_language_is_left_alone() -> None:
    document = json.loads(notebook("import torch", "x.cuda() {", "x.cuda()"))
    document["cells"][1]["metadata"] = {"vscode": {"languageId": "csharp"}}
    result = port(json.dumps(document).encode())
    assert sources(result.output)[1:] == ["x.cuda() {", "x.to(accel.device_type)"]
    assert left(result) == []


def test_a_notebook_that_does_not_tell_its_language_is_python() -> None:
    document = json.loads(notebook("import torch\nx.cuda()"))
    document["metadata"] = {}
    assert IMPORT in sources(port(json.dumps(document).encode()).output)[0]
