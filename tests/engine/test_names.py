"""What names mean: every way to bind torch, and every way to hide it."""

from __future__ import annotations

import textwrap

import pytest

from porter.engine.locate import locate
from porter.engine.source import Source
from porter.rule import AMBIGUOUS


def meanings(text: str) -> list[dict[str, str]]:
    """Return the meanings of the names in each fragment, in order."""
    source = Source.decode(textwrap.dedent(text).encode())
    survey = locate(source, source.parse())
    return [dict(f.fragment.names) for f in survey.fragments]


def meaning(text: str, name: str) -> str | None:
    """Return what the name means in the last fragment."""
    found = meanings(text)
    assert found, "no fragment was located"
    return found[-1].get(name)


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        pytest.param("import torch\ntorch.cuda.init()", "torch", "torch", id="plain"),
        pytest.param("import torch as th\nth.cuda.init()", "th", "torch", id="alias"),
        pytest.param("import torch.cuda as tc\ntc.init()", "tc", "torch.cuda", id="module-alias"),
        pytest.param("import torch.cuda\ntorch.cuda.init()", "torch", "torch", id="submodule"),
        pytest.param("from torch import cuda\ncuda.init()", "cuda", "torch.cuda", id="from"),
        pytest.param("from torch import cuda as c\nc.init()", "c", "torch.cuda", id="from-alias"),
        pytest.param(
            "from torch.cuda.amp import autocast as ac\nwith ac():\n    pass",
            "ac",
            "torch.cuda.amp.autocast",
            id="deep-from-alias",
        ),
        pytest.param(
            "from torch.cuda import nvtx as n, amp\nn.mark('x')",
            "n",
            "torch.cuda.nvtx",
            id="from-submodule",
        ),
        pytest.param(
            "def f():\n    import torch\n    torch.cuda.init()", "torch", "torch", id="in-function"
        ),
        pytest.param(
            "try:\n    import torch\nexcept ImportError:\n    torch = None\ntorch.cuda.init()",
            "torch",
            "torch",
            id="optional-none",
        ),
        pytest.param(
            "try:\n    import torch\nexcept E:\n    import fake as torch\ntorch.cuda.init()",
            "torch",
            AMBIGUOUS,
            id="optional-other-module",
        ),
        pytest.param(
            "try:\n    import torch\nexcept ImportError:\n    torch = make()\ntorch.cuda.init()",
            "torch",
            "torch",
            id="optional-fallback-object",
        ),
        pytest.param(
            "import torch\ntorch = wrap(torch)\ntorch.cuda.init()", "torch", AMBIGUOUS, id="rebound"
        ),
        pytest.param(
            "import torch\nfor torch in x:\n    torch.cuda.init()", "torch", AMBIGUOUS, id="loop"
        ),
        pytest.param(
            "import torch\nwith f() as torch:\n    torch.cuda.init()",
            "torch",
            AMBIGUOUS,
            id="with-target",
        ),
        pytest.param(
            "import torch\ndef f(torch):\n    torch.cuda.init()", "torch", None, id="parameter"
        ),
        pytest.param(
            "import torch\ndef f(*, torch=None):\n    torch.cuda.init()",
            "torch",
            None,
            id="keyword-parameter",
        ),
        pytest.param(
            "import torch\ndef f():\n    torch = make()\n    torch.cuda.init()",
            "torch",
            None,
            id="local-variable",
        ),
        pytest.param(
            "import torch\ndef f():\n    torch.cuda.init()\n    torch = 1",
            "torch",
            None,
            id="local-to-the-whole-function",
        ),
        pytest.param(
            "import torch\ndef f():\n    def torch(): ...\n    torch.cuda.init()",
            "torch",
            None,
            id="inner-function",
        ),
        pytest.param(
            "import torch\nx = [torch.cuda.x for torch in y]", "torch", None, id="listcomp"
        ),
        pytest.param(
            "import torch\nx = {k: torch.cuda.x for k, torch in y}",
            "torch",
            None,
            id="dictcomp",
        ),
        pytest.param("import torch\nf = lambda torch: torch.cuda.x", "torch", None, id="lambda"),
        pytest.param(
            "import torch\nx = [torch.cuda.x for torch in torch.cuda.y]",
            "torch",
            AMBIGUOUS,
            id="comprehension-over-it",
        ),
        pytest.param(
            "import torch\nf = lambda n=torch.cuda.x: torch.cuda.y", "torch", "torch", id="default"
        ),
        pytest.param(
            "import torch\nif (torch := make()):\n    torch.cuda.init()",
            "torch",
            AMBIGUOUS,
            id="walrus",
        ),
        pytest.param(
            "import torch\nclass C:\n    torch = 1\n    def f(self):\n        torch.cuda.init()",
            "torch",
            "torch",
            id="class-body-is-no-outer-scope",
        ),
        pytest.param(
            "import torch\nclass C:\n    torch = make()\n    x = torch.cuda.x",
            "torch",
            None,
            id="class-body-itself",
        ),
        pytest.param(
            "import torch\ndef f():\n    global torch\n    torch = make()\ntorch.cuda.init()",
            "torch",
            AMBIGUOUS,
            id="global-rebinds-the-module",
        ),
        pytest.param(
            "def f():\n    global torch\n    import torch\ndef g():\n    torch.cuda.init()",
            "torch",
            "torch",
            id="global-import",
        ),
        pytest.param(
            "import torch\ndef f():\n    torch = make()\n    def g():\n        global torch\n"
            "        torch.cuda.init()",
            "torch",
            "torch",
            id="global-skips-the-function",
        ),
        pytest.param(
            "def f():\n    import torch\n    def g():\n        nonlocal torch\n"
            "        torch.cuda.init()",
            "torch",
            "torch",
            id="nonlocal",
        ),
        pytest.param(
            "import torch\ndef f():\n    torch = make()\n    def g():\n        torch.cuda.init()",
            "torch",
            None,
            id="enclosing-function",
        ),
        pytest.param(
            "import torch\ntry:\n    f()\nexcept E as torch:\n    torch.cuda.init()",
            "torch",
            AMBIGUOUS,
            id="except-target",
        ),
        pytest.param(
            "import torch\nmatch x:\n    case [torch]:\n        torch.cuda.init()",
            "torch",
            AMBIGUOUS,
            id="match-capture",
        ),
        pytest.param("from utils import *\ntorch.cuda.init()", "torch", "torch", id="star-import"),
        pytest.param("torch.cuda.init()", "torch", "torch", id="never-imported"),
        pytest.param(
            "from .compat import torch\ntorch.cuda.init()", "torch", "torch", id="project-compat"
        ),
        pytest.param(
            "from .compat import torch as th\nth.cuda.init()", "th", "torch", id="compat-alias"
        ),
        pytest.param(
            "from numba import cuda\nx.cuda(cuda.grid(1))", "cuda", "numba.cuda", id="other-cuda"
        ),
        pytest.param("from . import cuda\nx.cuda(cuda.index)", "cuda", ".cuda", id="project-cuda"),
        pytest.param("print('cuda:0')", "print", "builtins.print", id="builtin"),
        pytest.param(
            "class Batch: ...\nBatch().cuda()", "Batch", ".Batch", id="class-of-this-file"
        ),
        pytest.param("x.cuda()", "x", None, id="unbound"),
        pytest.param(
            "def f(a: 'torch.cuda.Stream'): ...", "torch", "torch", id="string-annotation"
        ),
    ],
)
def test_meaning(text: str, name: str, expected: str | None) -> None:
    assert meaning(text, name) == expected


def test_decorators_and_defaults_are_read_outside_the_function() -> None:
    text = """
    import torch
    @torch.cuda.amp.autocast()
    def f(torch, device=torch.cuda.current_device()) -> torch.cuda.Stream:
        return torch.cuda.x
    """
    found = meanings(text)
    assert [m.get("torch") for m in found] == ["torch", "torch", "torch", None]


def test_comprehension_names_do_not_leak() -> None:
    found = meanings("import torch\nx = [t for t in y]\nt.cuda()\ntorch.cuda.init()")
    assert [m.get("torch") for m in found] == [None, "torch"]


def test_made_by_knows_a_variable_that_is_bound_once() -> None:
    source = Source.decode(b"import torch\ns = torch.cuda.Stream()\nx.cuda(s)\n")
    fragments = locate(source, source.parse()).fragments
    assert dict(fragments[-1].fragment.instances) == {"s": "torch.cuda.Stream"}


def test_made_by_does_not_guess_between_two_bindings() -> None:
    source = Source.decode(b"s = f()\ns = g()\nx.cuda(s)\n")
    fragments = locate(source, source.parse()).fragments
    assert dict(fragments[-1].fragment.instances) == {}
