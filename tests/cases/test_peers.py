"""What other tools for this job break, tool by tool: porter must not.

Huawei's msfmktransplt and torch_npu's transfer_to_npu, cuda-morph, musa-converter, gpu2mlu,
PaConvert, llm-compressor's lint_cuda.py, and hooks that look for words in lines.
"""

from __future__ import annotations

import ast
import hashlib
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from porter.engine import may_have_sites, rewrite_source
from porter.model import Level
from tests.cases.harness import port, run

ROOT = Path(__file__).parents[2]
ON_NPU = SimpleNamespace(
    device_type="npu",
    is_available=lambda: True,
    dist_backend=lambda cpu=False: "cpu:gloo,npu:hccl" if cpu else "hccl",
    torch_device=lambda index=None: "npu" if index is None else f"npu:{index}",
    is_accelerator=lambda x: getattr(x, "is_npu", str(x).startswith("npu")),
)
"""The shim's answers on an NPU, as far as they are asked for here; nothing is computed there."""


def on_npu(text: str, **names: Any) -> dict[str, Any]:
    """Execute a port with the shim's answers on an NPU."""
    ported = port(text).replace("import porter_runtime as accel\n", "")
    ported = ported.replace("import torch.distributed as dist\n", "") if "dist" in names else ported
    scope: dict[str, Any] = {"accel": ON_NPU, **names}
    exec(compile(ported, "ported.py", "exec", dont_inherit=True), scope)
    return scope


def unchanged(text: str) -> bool:
    return rewrite_source(text.encode()).output == text.encode()


# ---- msfmktransplt ----


def test_an_enums_members_keep_their_names_at_their_uses() -> None:
    scope = run(
        """
        import enum, torch
        class Kind(enum.Enum):
            cuda = "cuda"
            nccl = "nccl"
        first, second = Kind.cuda, Kind["nccl"]
        n = torch.cuda.device_count()
        """
    )
    assert scope["first"] is scope["Kind"].cuda
    assert scope["second"].value == "nccl"


@pytest.mark.parametrize(
    "choice",
    [
        '"nccl" if dist.is_nccl_available() else "gloo"',
        '"gloo" if not dist.is_nccl_available() else "nccl"',
        '"nccl" if torch.cuda.is_available() else "gloo"',
        '"nccl" if torch.cuda.is_available() and dist.is_nccl_available() else "gloo"',
    ],
)
def test_the_guard_of_a_backend_does_not_pick_gloo_on_an_npu(choice: str) -> None:
    dist = SimpleNamespace(
        is_nccl_available=lambda: False, is_backend_available=lambda name: name == "hccl"
    )
    text = f"import torch\nimport torch.distributed as dist\nbackend = {choice}\n"
    assert on_npu(text, dist=dist)["backend"] == "hccl"
    assert run(text)["backend"] == "gloo"
    of_the_project = f"import torch\nfrom project import dist\nbackend = {choice}\n"
    if "is_nccl" in choice:
        assert unchanged(of_the_project), "it can't be seen what its answer is on an NPU"


@pytest.mark.parametrize(
    "line",
    [
        "from torch.cuda import nccl",
        "from torch.cuda import nccl, synchronize",
        "from torch.cuda.nccl import all_reduce",
        "import torch.cuda.nccl",
        "from torch.cuda import comm as c, nvtx",
        "from torch.cuda.graphs import CUDAGraph",
    ],
)
def test_no_import_of_a_module_that_does_not_exist(line: str) -> None:
    ported = port(f"import torch\n{line}\n")
    exec(compile(ported, "ported.py", "exec"), {})
    assert "npu" not in ported


def test_a_capability_is_not_asked_of_what_has_none() -> None:
    asks = "torch.cuda.get_device_capability()[0] >= 8"
    assert unchanged(f"import torch\nif {asks}:\n    flash = True\n")
    guarded = f"import torch\nok = torch.cuda.is_available() and {asks}\n"
    assert unchanged(guarded)
    assert run(guarded)["ok"] is False


@pytest.mark.parametrize(
    "call",
    [
        "x.to(copy=True)",
        "x.to(torch.float64, copy=True)",
        "x.to(dtype=torch.float64)",
        "x.to(*args)",
        "x.to(other, non_blocking=True)",
    ],
)
def test_an_argument_that_is_no_device_does_not_become_one(call: str) -> None:
    text = f"import torch\ny = {call}\nn = torch.cuda.device_count()\n"
    assert f"y = {call}\n" in port(text)
    names = {"x": torch.ones(2), "args": ["cpu"], "other": torch.ones(1)}
    assert run(text, **names)["y"].device.type == "cpu"


@pytest.mark.parametrize(
    "call",
    [
        "f(*args, device='cuda', **options)",
        "f(1, *args, device=torch.device('cuda'), key=2, **options)",
        "f(device=f'cuda:{index}', *args, **options)",
    ],
)
def test_stars_and_keywords_are_kept(call: str) -> None:
    def f(*args: object, **options: object) -> tuple[object, object]:
        return args, {k: str(v).partition(":")[0] for k, v in options.items()}

    text = f"import torch\nresult = {call}\n"
    names: dict[str, Any] = {"f": f, "args": (3, 4), "options": {"z": 5}, "index": 1}
    before: dict[str, Any] = dict(names)
    exec(text, before)
    args, options = run(text, **names)["result"]
    assert args == before["result"][0]
    assert options == {**before["result"][1], "device": "cpu"}


@pytest.mark.parametrize(
    "line",
    [
        "y = once().cuda()",
        "y = once().cuda(once_index(), non_blocking=True)",
        "y = torch.zeros(1, device=f'cuda:{once_index()}')",
        "y = once().is_cuda",
        "y = once().type() == 'torch.cuda.FloatTensor'",
        "y = once().device.type == 'cuda'",
        "y = once().pin_memory()",
        "y = str(once().device) == f'cuda:{once_index()}'",
    ],
)
def test_nothing_is_evaluated_twice(line: str) -> None:
    calls: list[str] = []

    def once() -> torch.Tensor:
        calls.append("tensor")
        return torch.ones(1)

    def once_index() -> int:
        calls.append("index")
        return 0

    run(f"import torch\n{line}\n", once=once, once_index=once_index)
    assert len(calls) == len(set(calls))


def test_a_backend_for_both_kinds_of_tensors() -> None:
    text = 'import torch.distributed as dist\ndist.init_process_group("cpu:gloo,cuda:nccl")\n'
    seen: list[str] = []
    on_npu(text, dist=SimpleNamespace(init_process_group=seen.append))
    assert seen == ["cpu:gloo,npu:hccl"]


@pytest.mark.parametrize(
    "text",
    [
        '"""Moves to "cuda:0" by torch.cuda.set_device; see https://pytorch.org/cuda.html."""\n',
        'URL = "https://download.pytorch.org/whl/cuda:0/torch.cuda"\n',
        'def f(device):\n    """Use "cuda" or "cuda:1".\n\n    nccl is the default backend."""\n',
        'print("CUDA out of memory, use nccl")\n',
        'raise RuntimeError(f"{n} x CUDA out of memory on cuda:0")\n',
        "# torch.cuda.synchronize() is not needed: x.cuda() waits\n",
        'log.info("model.cuda() took %s", t)\n',
    ],
)
def test_texts_comments_and_urls_are_left(text: str) -> None:
    assert unchanged(text)
    site = "import torch\nn = torch.cuda.device_count()\n"
    assert text in port(text + site) or port(text + site).startswith(text.rstrip("\n"))


def test_a_class_of_the_projects_own_keeps_its_method_at_both_ends() -> None:
    scope = run(
        """
        import torch
        class Batch:
            def __init__(self):
                self.moved = 0
            def cuda(self):
                self.moved += 1
                return self
        batch = Batch()
        other = batch.cuda(), Batch().cuda()
        batch.cuda()
        n = torch.cuda.device_count()
        """
    )
    assert scope["batch"].moved == 2


@pytest.mark.parametrize(
    "test",
    [
        'hasattr(torch.cuda, "amp")',
        'hasattr(torch, "cuda")',
        'hasattr(torch.cuda, "no_such_name")',
        'hasattr(torch.cuda.amp, "autocast") and hasattr(x, "cuda")',
        'getattr(torch.cuda, "mem_get_info", None) is not None',
    ],
)
def test_a_question_for_an_attribute_stops_nothing_and_has_its_answer(test: str) -> None:
    text = f"import torch\nanswer = {test}\nn = torch.cuda.device_count()\n"
    before: dict[str, Any] = {"x": torch.ones(1)}
    exec(text, before)
    scope = run(text, x=torch.ones(1))
    assert scope["answer"] == before["answer"]
    assert "n = accel.device_count()" in port(text)


@pytest.mark.parametrize(
    "before",
    [
        b"\xef\xbb\xbfimport torch\r\nx = torch.zeros(1).cuda()\r\n",
        "# -*- coding: gbk -*-\n# 显存\nimport torch\nx = torch.zeros(1).cuda()\n".encode("gbk"),
        "# coding: latin-1\nimport torch  # é\nx = torch.zeros(1).cuda()".encode("latin-1"),
        b"import torch\n\x0cx = torch.zeros(1).cuda()\n\tif_ = 0\n"[:-9],
    ],
)
def test_marks_encodings_and_line_ends_are_kept(before: bytes) -> None:
    result = rewrite_source(before)
    assert not result.failed
    line_end = b"\r\n" if b"\r\n" in before else b"\n"
    added = b"import porter_runtime as accel" + line_end
    assert result.output.count(added) == 1
    back = result.output.replace(added, b"").replace(b".to(accel.device_type)", b".cuda()")
    assert back == before


def test_what_has_no_site_is_the_same_bytes_and_no_isinstance_is_put_around_anything() -> None:
    text = "import torch\nmodel.to(device)\nx = x.to(y.device, non_blocking=True)\nlist(a).to(b)\n"
    assert not may_have_sites(text.encode())
    assert unchanged(text)
    ported = port(text + "n = torch.cuda.device_count()\n")
    assert text.partition("\n")[2] in ported
    assert "isinstance" not in ported


def test_a_port_needs_no_torch_npu_and_runs_where_there_is_none() -> None:
    text = "import torch\nx = torch.zeros(2).cuda()\ntorch.cuda.synchronize()\n"
    assert "npu" not in port(text)
    assert run(text)["x"].device.type == "cpu"


def test_a_second_and_a_third_run_change_nothing() -> None:
    text = "import torch\nfrom torch.cuda.amp import autocast\nx = x.cuda(rank)\nd = 'cuda:0'\n"
    once = rewrite_source(text.encode()).output
    twice = rewrite_source(once)
    assert twice.output == once
    assert not [f for f in twice.findings if f.level is Level.REWRITTEN]
    assert rewrite_source(twice.output).output == once


def test_the_result_does_not_depend_on_the_order_of_sets() -> None:
    program = (
        "import sys; sys.path[:0] = sys.argv[1:4]\n"
        "from pathlib import Path\n"
        "from porter.engine import rewrite_source\n"
        "result = rewrite_source(Path(sys.argv[4]).read_bytes())\n"
        "sys.stdout.buffer.write(result.output + repr(result.findings).encode())\n"
    )
    victim = ROOT / "fixtures" / "image_classifier" / "original" / "main.py"
    paths = [str(ROOT / part) for part in (".", "rules", "runtime")]
    results = {
        hashlib.sha256(
            subprocess.run(
                [sys.executable, "-c", program, *paths, str(victim)],
                env={**os.environ, "PYTHONHASHSEED": seed},
                check=True,
                capture_output=True,
            ).stdout
        ).hexdigest()
        for seed in ("0", "1", "4242")
    }
    assert len(results) == 1


# ---- transfer_to_npu ----


def test_a_checkpoints_tags_are_kept_and_where_they_go_is_not() -> None:
    text = 'import torch\nx = torch.load(p, map_location={"cuda:0": f"cuda:{rank}"})\n'
    assert 'map_location={"cuda:0": str(accel.torch_device(rank))}' in port(text)


def test_double_precision_stays_double() -> None:
    scope = run("import torch\nt = torch.ones(2).double().cuda()\nT = torch.cuda.DoubleTensor\n")
    assert scope["t"].dtype is torch.float64
    assert scope["T"] is torch.DoubleTensor


def test_importing_the_port_patches_nothing() -> None:
    modules = (torch, torch.cuda, torch.Tensor, torch.nn.Module)
    before = [dict(vars(module)) for module in modules]
    run("import torch\nok = torch.cuda.is_available()\nx = torch.ones(1).cuda()\n")
    assert [dict(vars(module)) for module in modules] == before


# ---- cuda-morph, musa-converter, gpu2mlu: names as text ----


@pytest.mark.parametrize(
    ("imported", "used"),
    [
        ("import torch as th", "th.cuda"),
        ("from torch import cuda", "cuda"),
        ("from torch import cuda as gpu", "gpu"),
        ("import torch.cuda as tc", "tc"),
    ],
)
def test_names_are_followed_through_their_imports(imported: str, used: str) -> None:
    ported = port(f"{imported}\nn = {used}.device_count()\n{used}.synchronize()\n")
    assert ported.endswith("n = accel.device_count()\naccel.synchronize()\n")


def test_a_name_that_only_looks_like_torch_is_left() -> None:
    text = (
        "import flow as torch_\nfrom numba_like import cuda\ncuda.synchronize()\ntorch_.cuda.x()\n"
    )
    assert unchanged(text)
    rebound = "import torch\ndef f(torch):\n    return torch.cuda.device_count()\n"
    assert unchanged(rebound)


@pytest.mark.parametrize(
    ("text", "device"),
    [
        ("d = f'cuda:{i}'", "npu:1"),
        ("d = 'cuda:%d' % i", "npu:1"),
        ("d = 'cuda:{}'.format(i)", "npu:1"),
        ("d = 'cuda:' + str(i)", "npu:1"),
        ("d = 'cuda'", "npu"),
    ],
)
def test_a_device_is_found_however_it_is_spelled(text: str, device: str) -> None:
    text = text.replace("d =", "device =")
    assert str(on_npu(f"import torch\n{text}\n", i=1)["device"]) == device


# ---- PaConvert, lint_cuda.py: what is written has to be Python, and all of it ----


def test_comments_layout_and_quotes_survive() -> None:
    before = (
        "import torch\n"
        "x = (  # first\n"
        "    torch.zeros( 1 ,2)   # two spaces\n"
        "    .cuda(  # there\n"
        "        non_blocking = True,  # last\n"
        "    )\n"
        ")\n"
        "y = {'a':1, \"b\" : '''c'''}  # cuda\n"
    )
    after = port(before)
    expected = before.replace(".cuda(  # there\n", ".to(  # there\n        accel.device_type, ")
    for comment in ("# first", "# two spaces", "# there", "# last", "# cuda"):
        assert after.count(comment) == expected.count(comment) == 1
    assert "torch.zeros( 1 ,2)   # two spaces" in after
    assert "y = {'a':1, \"b\" : '''c'''}  # cuda" in after


@pytest.mark.parametrize(
    "text",
    [
        "import torch.cuda\nx = torch.cuda.Stream()\n",
        "from torch.cuda import (\n    Event,  # timing\n    Stream,\n)\n",
        "import torch\nwith torch.cuda.device(0), torch.cuda.stream(s): pass\n",
        "import torch\nx = [t.cuda() for t in ts if t.is_cuda]; y = lambda: torch.cuda.Stream()\n",
        "import torch\nasync def f():\n    return await g(torch.cuda.current_device())\n",
        "import torch\nif (n := torch.cuda.device_count()) > 1: print(f'{n!r:>3}')\n",
        "import torch\n@torch.cuda.amp.autocast()\ndef f(x, *, device='cuda'): ...\n",
        "import torch\ntry: f()\nexcept (ValueError, torch.cuda.OutOfMemoryError): pass\n",
        "import torch\nx = 1 if torch.cuda.is_available()else 0\n",
        "import torch\ndel x, y[torch.cuda.current_device()]\n",
        "import torch\nclass A(torch.nn.Module, key=torch.cuda.Stream): x: torch.cuda.Event\n",
    ],
)
def test_whatever_the_form_the_port_compiles_and_keeps_its_statements(text: str) -> None:
    ported = port(text)
    compile(ported, "ported.py", "exec")
    kinds = [type(n).__name__ for n in ast.parse(text).body]
    with_shim = [type(n).__name__ for n in ast.parse(ported).body]
    for kind in kinds:
        with_shim.remove(kind)
    assert with_shim in ([], ["Import"])


# ---- what people complain about ----


def test_the_way_back_is_the_same_program() -> None:
    text = "import torch\nx = torch.ones(2).cuda()\nok = torch.cuda.is_available()\n"
    ported = port(text)
    assert ported.count("porter_runtime") == 1, "one import, and plain names behind it"
    assert run(text)["ok"] is torch.cuda.is_available()


def test_emptying_the_cache_in_an_else_branch_runs_without_a_device() -> None:
    run("import torch\nif False:\n    pass\nelse:\n    torch.cuda.empty_cache()\n")


def test_an_options_integer_is_a_device_where_it_is_used_as_one() -> None:
    text = "import torch\ndef main(args, model):\n    return model.to(f'cuda:{args.device_id}')\n"
    main = run(text)["main"]
    model = torch.nn.Linear(1, 1)
    assert next(main(SimpleNamespace(device_id=3), model).parameters()).device.type == "cpu"
