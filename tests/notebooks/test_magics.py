"""What IPython adds to Python is told apart, survives, and is reported where it is CUDA's."""

from __future__ import annotations

import pytest

from porter.notebooks.magics import sort
from tests.notebooks.notebooks import left, notebook, port, ported, sources

IMPORT = "import porter_runtime as accel"

LINES = [
    "!ls",
    "!!ls",
    "%matplotlib inline",
    "%env A=1",
    "?x",
    "x?",
    "x.y??",
    "x.cuda?",
    "%timeit?",
    "y = !ls -l",
    "y = %system ls",
    "f(  # a comment?\n).g?",
    "/f 1",
    ",f a b",
    ";f a b",
    "!ls \\\n  -l",
    "%pip install torch",
    "!echo 'unclosed",
]


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("indented", [False, True])
def test_the_line_survives_and_its_neighbours_are_ported(line: str, indented: bool) -> None:
    if indented:
        line = "if a:\n    " + line
    before = f"import torch\nx.cuda()\n{line}\ny.cuda()"
    (after,) = ported(before)
    assert after == (
        f"import torch\n{IMPORT}\nx.to(accel.device_type)\n{line}\ny.to(accel.device_type)"
    )


@pytest.mark.parametrize(
    "text",
    [
        's = """\n!nvidia-smi\n%cd /\nwhat?\n"""',
        'f(\n    "%s"\n    % x\n)',
        "a = b \\\n    % c",
        "[\n    x\n    / 2, y\n    , z]",
        "# what?\n#!nvidia-smi",
        "x != y",
        "f'{x!r}' '?'",
        "def f(a, b='?'): ...",
    ],
)
def test_python_that_looks_like_magic_is_python(text: str) -> None:
    code = sort(text)
    assert code.python == text
    assert not code.shell.strip()


@pytest.mark.parametrize(
    ("source", "python", "shell"),
    [
        ("!nvidia-smi -L", "", "nvidia-smi -L"),
        ("%env CUDA_VISIBLE_DEVICES=0", "", "CUDA_VISIBLE_DEVICES=0"),
        ("%pip install apex", "", "pip install apex"),
        ("%run train.py --device cuda", "", "train.py --device cuda"),
        ("gpus = !nvidia-smi", "gpus = ()", "nvidia-smi"),
        ("%%bash\nnvidia-smi\nls\n", "", "nvidia-smi\nls"),
        ("\n\n%%sh -e\nls", "", "ls"),
        ("%%script bash\nls", "", "ls"),
        ("%%time\nx = 1", "x = 1", ""),
        ("%%capture out\n%%time\nx = 1", "x = 1", ""),
        ("%time x = f()", "if 1: x = f()", ""),
        ("%timeit -n 10 -r3 f()", "if 1:             f()", ""),
        ("%time for x in y: f()", "", ""),
        ("%%html\n<b>cuda</b>", "", ""),
        ("%%R\nx.cuda()", "", ""),
        ("", "", ""),
        ("\n \n", "", ""),
    ],
)
def test_what_is_for_whom(source: str, python: str, shell: str) -> None:
    code = sort(source)
    assert (code.python.strip(), code.shell.strip()) == (python, shell)
    assert len(code.python) == len(code.shell) == len(source)
    for text in (code.shell, code.python):
        at = len(text) - len(text.lstrip())
        last = len(text.rstrip())
        if text is code.shell:
            assert source[at:last] == text[at:last]


@pytest.mark.parametrize("magic", ["%%time", "%%capture out", "%%timeit -n 1", "\n%%time"])
def test_cells_whose_magic_takes_python_are_ported(magic: str) -> None:
    assert ported("import torch", f"{magic}\nx.cuda()") == [
        f"import torch\n{IMPORT}",
        f"{magic}\nx.to(accel.device_type)",
    ]
    assert ported(f"{magic}\nx.cuda()") == [f"{magic}\n{IMPORT}\nx.to(accel.device_type)"]


def test_line_magics_that_take_python_are_ported() -> None:
    before = "import torch\n%time y = net(x.cuda())\n%timeit -n 3 net(x.cuda())\n%prun f()"
    assert ported(before) == [
        f"import torch\n{IMPORT}\n%time y = net(x.to(accel.device_type))\n"
        "%timeit -n 3 net(x.to(accel.device_type))\n%prun f()"
    ]
    assert ported("%time import torch", "x.cuda()")[0].startswith("%time import torch; import ")


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("r = %timeit -o net(x.cuda())", "1:5"),
        ("%lprun -f f f(x.cuda())", "1:1"),
        ("%%timeit x = y.cuda()\nf(x)", "1:1"),
        ("%%cython\ntorch.cuda.synchronize()", "1:1"),
        ("%%cu\n__global__ void f() {} // cuda", "1:1"),
    ],
)
def test_code_in_other_magics_is_reported(source: str, place: str) -> None:
    data = notebook("import torch", source)
    result = port(data)
    assert result.output == data
    assert left(result) == [f"cell 2:{place} PTR000"]


@pytest.mark.parametrize(
    "source",
    ["%%html\n<b>cuda</b>", "%cd /opt/cuda", "%%markdown\ncall `x.cuda()`", "x.cuda?", "%%time\n1"],
)
def test_prose_in_magics_is_not(source: str) -> None:
    assert left(port(notebook("import torch", source))) == []


def test_what_a_shell_is_told_is_read_as_a_script() -> None:
    result = port(
        notebook(
            "!nvidia-smi\n%env CUDA_VISIBLE_DEVICES=0",
            "%%bash\nls\nnvidia-smi -L",
            "import torch\ny = !nvidia-smi\nx.cuda()",
        )
    )
    assert {place.rpartition(" ")[0] for place in left(result)} == {
        "cell 1:1:2",
        "cell 1:2:6",
        "cell 2:3:1",
        "cell 3:2:6",
    }
    sample = next(f for f in result.findings if f.place == "cell 3:2:6")
    assert sample.source == "y = !nvidia-smi"


def test_a_file_that_a_cell_writes_is_a_module_of_its_own() -> None:
    before = (
        "import torch as th\naccel = 1",
        "%%writefile train.py\n# -*- coding: latin-1 -*-\nimport torch\n\nx = 'é'.cuda()\n",
        "%%writefile -a train.py\ny.cuda()\n",
        "%%writefile notes.md\nx.cuda()\n",
    )
    result = port(notebook(*before))
    assert sources(result.output) == [
        before[0],
        "%%writefile train.py\n# -*- coding: latin-1 -*-\nimport torch\n"
        f"{IMPORT}\n\nx = 'é'.to(accel.device_type)\n",
        *before[2:],
    ]
    assert left(result) == ["cell 3:1:1 PTR000"]


def test_a_file_that_is_no_python_costs_only_itself() -> None:
    result = port(notebook("%%writefile a.py\nx = = y.cuda()", "import torch\nx.cuda()"))
    assert sources(result.output) == [
        "%%writefile a.py\nx = = y.cuda()",
        f"import torch\n{IMPORT}\nx.to(accel.device_type)",
    ]
    assert left(result) == ["cell 1:2:5 PTR000"]
    assert not result.failed


def test_configuration_that_a_cell_writes_is_read_as_such() -> None:
    result = port(notebook("%%writefile conf/train.yaml\n# cuda\nlr: 1\ndevice: cuda\n"))
    (place,) = (place.rpartition(" ")[0] for place in left(result))
    assert place.startswith("cell 1:4:")
