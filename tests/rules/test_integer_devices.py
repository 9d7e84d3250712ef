"""Integers that are used as devices: what is sure, what is not, and what is no device at all."""

from __future__ import annotations

import pytest

from porter.engine import rewrite_source

IMPORT = "import porter_runtime as accel\n"


def port(text: str) -> tuple[str, dict[int, list[tuple[str, str]]]]:
    """Port a module; return its text without the shim's import, and the findings by line."""
    result = rewrite_source(text.encode())
    assert not result.failed, result.findings
    found: dict[int, list[tuple[str, str]]] = {}
    for f in result.findings:
        found.setdefault(f.line, []).append((f.code, f.level.value))
    return result.output.decode().replace(IMPORT, "", 1), found


def test_a_tensor_that_torch_made_moves_to_a_typed_device() -> None:
    text = (
        "import torch\n"
        "x = torch.ones(2).to(0)\n"
        "y = torch.ones(2).cuda(1, non_blocking=True)\n"
        "z = torch.ones(2).to(torch.int32)\n"
        'n = open("f").read().zfill(3)\n'
    )
    ported, found = port(text)
    assert ported == (
        "import torch\n"
        "x = torch.ones(2).to(accel.torch_device(0))\n"
        "y = torch.ones(2).to(accel.torch_device(1), non_blocking=True)\n"
        "z = torch.ones(2).to(torch.int32)\n"
        'n = open("f").read().zfill(3)\n'
    )
    assert found[2] == [("PTR120", "rewritten")]
    assert 4 not in found
    assert 5 not in found


def test_the_forms_of_one_line() -> None:
    ported, _ = port(
        "import torch\nimport torch.cuda\n"
        "def f(x, rank, local_rank):\n"
        "    torch.device('cuda', rank)\n"
        "    torch.device(0); x.to(local_rank); torch.zeros(1, device=rank)\n"
    )
    assert ported.endswith(
        "    accel.torch_device(rank)\n"
        "    accel.torch_device(0); x.to(accel.torch_device(local_rank)); "
        "torch.zeros(1, device=accel.torch_device(rank))\n"
    )


@pytest.mark.parametrize(
    "rank",
    [
        "rank",
        "local_rank",
        "gpu",
        "gpu_id",
        "device_id",
        "self.rank",
        "args.local_rank",
        "args.gpu",
        "cfg.gpu_id",
        "self.device_ids[0]",
        "args.gpu_ids[0]",
        "rank % torch.cuda.device_count()",
        "dist.get_rank()",
        'int(os.environ["LOCAL_RANK"])',
        'int(os.environ.get("LOCAL_RANK", 0))',
    ],
)
def test_what_is_called_like_a_rank_is_an_index(rank: str) -> None:
    ported, _ = port(f"import os, torch\nm = m.to({rank})  # CUDA\n")
    shown = rank.replace("torch.cuda.device_count()", "max(1, accel.device_count())")
    assert ported == f"import os, torch\nm = m.to(accel.torch_device({shown}))  # CUDA\n"


@pytest.mark.parametrize(
    "receiver",
    [
        "torch.randn(3).float()",
        "torch.nn.Linear(2, 2)",
        "model",
        "self.model",
        "AutoModel.from_pretrained('x')",
    ],
)
def test_a_literal_index_needs_a_receiver_of_torch(receiver: str) -> None:
    head = "import torch\nfrom transformers import AutoModel\n"
    ported, _ = port(f"{head}{receiver}.to(0)  # CUDA\n")
    assert ported == f"{head}{receiver}.to(accel.torch_device(0))  # CUDA\n"


@pytest.mark.parametrize(
    ("receiver", "levels"),
    [
        ("thing", [("PTR120", "manual")]),
        ("self.whatever()", [("PTR120", "manual")]),
        ("pd.DataFrame(rows)", []),
        ("ureg.Quantity(3, 'm')", []),
    ],
)
def test_a_literal_index_on_something_else_is_left(
    receiver: str, levels: list[tuple[str, str]]
) -> None:
    text = f"import pandas as pd\nimport pint as ureg\ny = {receiver}.to(0)  # cuda\n"
    ported, found = port(text)
    assert ported == text
    assert found.get(3, []) == levels


def test_a_variable_that_torch_made_is_a_tensor() -> None:
    ported, found = port(
        "import torch\nimport pandas as pd\n"
        "def f():\n    w = torch.ones(2)\n    t = pd.Series([1])\n"
        "    t.to(0)\n    return w.to(0).cuda()\n"
    )
    assert "    t.to(0)\n" in ported
    assert "w.to(accel.torch_device(0)).to(accel.device_type)" in ported
    assert 6 not in found


def test_get_device_becomes_the_device_itself() -> None:
    ported, _ = port(
        "import torch\nbuf = torch.zeros(3).cuda(x.get_device())\n"
        "a = y.to(x.get_device())\nb = torch.zeros(3, device=x.get_device())\n"
        "torch.cuda.set_device(x.get_device())\n"
    )
    assert ported == (
        "import torch\nbuf = torch.zeros(3).to(x.device)\n"
        "a = y.to(x.device)\nb = torch.zeros(3, device=x.device)\n"
        "accel.set_device(x.get_device())\n"
    )


def test_an_unknown_function_keeps_its_integer() -> None:
    text = "evaluate(model, device=local_rank)  # cuda\nrun(device=0)  # cuda\n"
    ported, found = port(text)
    assert ported == text
    assert found == {1: [("PTR120", "manual")], 2: [("PTR120", "manual")]}


def test_an_index_of_torch_cuda_stays_an_index() -> None:
    ported, _ = port(
        "import torch\ntorch.cuda.synchronize(device=0)\n"
        "n = torch.cuda.memory_allocated(device=rank)\n"
    )
    assert ported == (
        "import torch\naccel.synchronize(device=0)\nn = accel.memory_allocated(device=rank)\n"
    )


def test_a_choice_with_the_cpu_is_ported_as_a_whole_or_not_at_all() -> None:
    ported, found = port(
        "import torch\n"
        "m = m.to(0 if torch.cuda.is_available() else 'cpu')\n"
        "device = 0 if torch.cuda.is_available() else -1\n"
        "count = 0 if torch.cuda.is_available() else -1\n"
    )
    assert ported == (
        "import torch\n"
        "m = m.to(accel.torch_device(0))\n"
        "device = 0 if torch.cuda.is_available() else -1\n"
        "count = 0 if accel.is_available() else -1\n"
    )
    assert found[3] == [("PTR311", "manual")]


def test_comments_inside_the_call_stay() -> None:
    ported, _ = port("x = model.to(  # move CUDA\n    rank,  # local\n    non_blocking=True,\n)\n")
    assert ported == (
        "x = model.to(  # move CUDA\n    accel.torch_device(rank),  # local\n"
        "    non_blocking=True,\n)\n"
    )


def test_files_without_any_other_site_are_not_parsed_for_it() -> None:
    text = "model = model.to(rank)\n"
    assert port(text) == (text, {})


@pytest.mark.parametrize(
    ("site", "after", "moved"),
    [
        ("y = x.cuda(rank)", "y = x.to(accel.torch_device(rank))", False),
        ("torch.cuda.init()", "accel.init()", False),
        ("from torch.cuda import init", "from porter_runtime import init", True),
    ],
)
def test_a_file_is_of_the_same_framework_when_it_is_ported(
    site: str, after: str, moved: bool
) -> None:
    first = rewrite_source(f"import jax\n{site}\nx = x.to(rank)\n".encode()).output
    assert after in first.decode()
    assert (b"x = x.to(rank)\n" in first) is not moved
    assert rewrite_source(first).output == first


def test_what_a_name_of_torch_cuda_holds_is_an_index_until_it_is_known_for_a_device() -> None:
    ported, _ = port("x = y.cuda(torch.cuda.current_stream().device_index)\n")
    assert ported == "x = y.to(accel.torch_device(accel.current_stream().device_index))\n"
    assert port(IMPORT + ported)[0] == ported
