"""Where the shim's import goes."""

from __future__ import annotations

import textwrap

import pytest

from porter.engine import rewrite_source
from porter.model import Options, Shim

ACCEL = "import porter_runtime as accel"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "import torch\nx.cuda()\n",
            f"import torch\n{ACCEL}\nx.to(accel.device_type)\n",
            id="behind-torch",
        ),
        pytest.param(
            "import os\nimport torch\nimport torch.nn as nn\nfrom torch import optim\nimport yaml\n"
            "x.cuda()\n",
            "import os\nimport torch\nimport torch.nn as nn\nfrom torch import optim\n"
            f"{ACCEL}\nimport yaml\nx.to(accel.device_type)\n",
            id="behind-the-run-of-torch-imports",
        ),
        pytest.param(
            "import torch  # noqa: F401\nx.cuda()\n",
            f"import torch  # noqa: F401\n{ACCEL}\nx.to(accel.device_type)\n",
            id="comment-on-the-line",
        ),
        pytest.param(
            "if a:\n    \\\nimport torch\n    x.cuda()\n",
            f"if a:\n    \\\nimport torch; {ACCEL}\n    x.to(accel.device_type)\n",
            id="behind-an-import-that-a-backslash-indents",
        ),
        pytest.param(
            "def f(x):\n    \\\nx.cuda()\n    import torch\n",
            f"def f(x):\n    \\\n{ACCEL}; x.to(accel.device_type)\n    import torch\n",
            id="before-a-statement-that-a-backslash-indents",
        ),
        pytest.param(
            "\\\n\nmatch x:\n    case 1:\n        y.cuda()\n",
            f"\\\n\n{ACCEL}\nmatch x:\n    case 1:\n        y.to(accel.device_type)\n",
            id="before-a-match-behind-a-backslash",
        ),
        pytest.param(
            "from torch import (\n    nn,  # a\n    optim,\n)\nx.cuda()\n",
            f"from torch import (\n    nn,  # a\n    optim,\n)\n{ACCEL}\nx.to(accel.device_type)\n",
            id="import-over-several-lines",
        ),
        pytest.param(
            "import torch\nimport os\nfrom utils import *\nx.cuda()\n",
            f"import torch\nimport os\nfrom utils import *\n{ACCEL}\nx.to(accel.device_type)\n",
            id="behind-a-later-star",
        ),
        pytest.param(
            "from utils import *\ndef setup():\n    torch.cuda.synchronize()\nsetup()\n"
            "from torch.nn import Linear\n",
            f"from utils import *\n{ACCEL}\ndef setup():\n    accel.synchronize()\nsetup()\n"
            "from torch.nn import Linear\n",
            id="torch-comes-with-a-star-and-runs-before-its-late-import",
        ),
        pytest.param(
            "import torch\nx.cuda()\nfrom utils import *\n",
            f"import torch\n{ACCEL}\nx.to(accel.device_type)\nfrom utils import *\n",
            id="star-behind-the-first-use",
        ),
        pytest.param(
            "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n'''Doc.'''\n"
            "from __future__ import annotations\n\nx.cuda()\n",
            "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n'''Doc.'''\n"
            f"from __future__ import annotations\n{ACCEL}\n\nx.to(accel.device_type)\n",
            id="no-other-import",
        ),
        pytest.param(
            "'''Doc.'''\nx.cuda()\n",
            f"'''Doc.'''\n{ACCEL}\nx.to(accel.device_type)\n",
            id="docstring-alone",
        ),
        pytest.param(
            "'''Doc.'''; import torch\nx.cuda()\n",
            f"'''Doc.'''; import torch\n{ACCEL}\nx.to(accel.device_type)\n",
            id="docstring-on-the-import's-line",
        ),
        pytest.param(
            "from __future__ import annotations; import torch\nx.cuda()\n",
            f"from __future__ import annotations; import torch\n{ACCEL}\nx.to(accel.device_type)\n",
            id="future-on-the-import's-line",
        ),
        pytest.param(
            "import torch; x.cuda()\n",
            f"import torch; {ACCEL}; x.to(accel.device_type)\n",
            id="use-on-the-import's-line",
        ),
        pytest.param(
            "# a licence\n\ny = x.cuda()\n",
            f"# a licence\n\n{ACCEL}\ny = x.to(accel.device_type)\n",
            id="comment-and-code",
        ),
        pytest.param(
            "import os\nos.environ['A'] = '1'\nimport torch\nx.cuda()\n",
            f"import os\nos.environ['A'] = '1'\nimport torch\n{ACCEL}\nx.to(accel.device_type)\n",
            id="behind-early-environment-writes",
        ),
        pytest.param(
            "import os\nos.environ['A'] = '1'\nimport yaml\nx.cuda()\n",
            f"import os\nos.environ['A'] = '1'\nimport yaml\n{ACCEL}\nx.to(accel.device_type)\n",
            id="behind-early-environment-writes-without-torch",
        ),
        pytest.param(
            "def main():\n    '''Doc.'''\n    import torch\n    x.cuda()\n",
            f"def main():\n    '''Doc.'''\n    import torch\n    {ACCEL}\n"
            "    x.to(accel.device_type)\n",
            id="late-torch-in-the-function",
        ),
        pytest.param(
            "def a():\n    import torch\n    x.cuda()\ndef b():\n    import torch\n    y.cuda()\n",
            f"def a():\n    import torch\n    {ACCEL}\n    x.to(accel.device_type)\n"
            f"def b():\n    import torch\n    {ACCEL}\n    y.to(accel.device_type)\n",
            id="several-local-imports",
        ),
        pytest.param(
            "def a():\n    import torch\n    return torch.ones(1)\ndef b():\n    '''Doc.'''\n"
            "    return a().cuda()\n",
            "def a():\n    import torch\n    return torch.ones(1)\ndef b():\n    '''Doc.'''\n"
            f"    {ACCEL}\n    return a().to(accel.device_type)\n",
            id="late-torch-elsewhere",
        ),
        pytest.param(
            "def a():\n    import torch\ndef b(): return a().cuda()\n",
            f"def a():\n    import torch\ndef b(): {ACCEL}; return a().to(accel.device_type)\n",
            id="one-line-function",
        ),
        pytest.param(
            "try:\n    import torch\nexcept ImportError:\n    torch = None\ndef f(x):\n"
            "    return x.cuda()\n",
            f"try:\n    import torch\n    {ACCEL}\nexcept ImportError:\n    torch = None\n"
            "def f(x):\n    return x.to(accel.device_type)\n",
            id="optional-torch",
        ),
        pytest.param(
            "try: import torch\nexcept ImportError: torch = None\ndef f(x):\n    return x.cuda()\n",
            f"try: import torch; {ACCEL}\nexcept ImportError: torch = None\n"
            "def f(x):\n    return x.to(accel.device_type)\n",
            id="optional-torch-on-one-line",
        ),
        pytest.param(
            "if A:\n    import torch\nelse:\n    import torch\nx.cuda()\n",
            f"if A:\n    import torch\n    {ACCEL}\nelse:\n    import torch\n    {ACCEL}\n"
            "x.to(accel.device_type)\n",
            id="torch-in-both-branches",
        ),
        pytest.param(
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\n"
            "def f(x: 'torch.Tensor'):\n    return x.cuda()\n",
            f"from typing import TYPE_CHECKING\n{ACCEL}\nif TYPE_CHECKING:\n    import torch\n"
            "def f(x: 'torch.Tensor'):\n    return x.to(accel.device_type)\n",
            id="torch-for-types-only",
        ),
        pytest.param(
            "from .compat import torch\nx.cuda()\n",
            f"from .compat import torch\n{ACCEL}\nx.to(accel.device_type)\n",
            id="project's-own-torch",
        ),
        pytest.param(
            "import torch\r\nx.cuda()\r\n",
            f"import torch\r\n{ACCEL}\r\nx.to(accel.device_type)\r\n",
            id="crlf",
        ),
        pytest.param(
            "import torch\nx = 1\r\nx.cuda()\r\n",
            f"import torch\n{ACCEL}\nx = 1\r\nx.to(accel.device_type)\r\n",
            id="mixed-newlines",
        ),
        pytest.param(
            "x.cuda()\nimport torch",
            f"{ACCEL}\nx.to(accel.device_type)\nimport torch",
            id="use-before-the-import",
        ),
        pytest.param(
            "def f():\n\timport torch\n\tx.cuda()\n",
            f"def f():\n\timport torch\n\t{ACCEL}\n\tx.to(accel.device_type)\n",
            id="tabs",
        ),
        pytest.param(
            "import torch\nimport porter_runtime as p\nx.to(p.device_type)\ny.cuda()\n",
            "import torch\nimport porter_runtime as p\nx.to(p.device_type)\ny.to(p.device_type)\n",
            id="known-under-another-name",
        ),
        pytest.param(
            "import torch\naccel = 3\nx.cuda()\n",
            "import torch\nimport porter_runtime as porter_accel\naccel = 3\n"
            "x.to(porter_accel.device_type)\n",
            id="alias-is-taken",
        ),
        pytest.param(
            "import torch\ndef f(accel):\n    return x.cuda()\n",
            "import torch\nimport porter_runtime as porter_accel\ndef f(accel):\n"
            "    return x.to(porter_accel.device_type)\n",
            id="alias-is-a-parameter",
        ),
        pytest.param(
            "import torch  # accel\nx.cuda()\n",
            f"import torch  # accel\n{ACCEL}\nx.to(accel.device_type)\n",
            id="alias-in-a-comment-only",
        ),
    ],
)
def test_import(before: str, after: str) -> None:
    result = rewrite_source(before.encode())
    assert result.output.decode() == after
    assert rewrite_source(result.output).output == result.output


def test_docstring_stays_the_docstring() -> None:
    output = rewrite_source(b'"""doc"""; import torch\nx = lambda t: t.cuda()\n').output
    namespace: dict[str, object] = {}
    code = compile(output.replace(b"import porter_runtime as accel", b"accel = None"), "x", "exec")
    exec(code, namespace)
    assert namespace["__doc__"] == "doc"


def test_vendored_shim_is_imported_by_its_full_path() -> None:
    options = Options(shim=Shim(module="_accel", package="axolotl"))
    text = textwrap.dedent(
        """\
        import torch
        from torch.cuda import synchronize
        x.cuda()
        """
    )
    output = rewrite_source(text.encode(), options=options).output.decode()
    assert "from axolotl import _accel as accel\n" in output
    assert "x.to(accel.device_type)" in output
    assert "from axolotl._accel import synchronize\n" in output
    assert rewrite_source(output.encode(), options=options).output.decode() == output


def test_torch_imported_under_a_condition_and_used_in_a_function() -> None:
    before = "if available():\n    import torch\n\n\ndef f(x):\n    torch.cuda.init()\n"
    after = before.replace("torch.cuda.", "accel.").replace(
        "    import torch\n", f"    import torch\n    {ACCEL}\n"
    )
    assert rewrite_source(before.encode()).output.decode() == after


def test_a_use_before_the_functions_own_import_of_torch() -> None:
    before = (
        "def f(x):\n    '''Doc.'''\n    x.cuda()\n    torch.cuda.init()\n    import torch\n"
        "    torch.cuda.init()\n"
    )
    after = (
        f"def f(x):\n    '''Doc.'''\n    {ACCEL}\n    x.to(accel.device_type)\n    accel.init()\n"
        "    import torch\n    accel.init()\n"
    )
    assert rewrite_source(before.encode()).output.decode() == after


def test_an_import_at_the_top_serves_functions_that_import_torch_again() -> None:
    before = (
        "import torch as th\nth.cuda.init()\ndef g():\n    import torch as t\n    t.cuda.init()\n"
    )
    after = (
        f"import torch as th\n{ACCEL}\naccel.init()\ndef g():\n    import torch as t\n"
        "    accel.init()\n"
    )
    assert rewrite_source(before.encode()).output.decode() == after


def test_a_decorator_in_parentheses_begins_at_its_at() -> None:
    before = "@(  # why\n    # this\n    f(x.cuda())\n)\n@g\ndef h(): ...\n"
    after = f"{ACCEL}\n" + before.replace("x.cuda()", "x.to(accel.device_type)")
    assert rewrite_source(before.encode()).output.decode() == after
