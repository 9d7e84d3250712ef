"""`.cuda()`, `.is_cuda` and the legacy types: whole files before and after, and run on the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

import porter_runtime
from porter.engine import rewrite_source
from porter.model import Level

SHIM_IMPORT = "import porter_runtime as accel\n"
Codes = list[tuple[str, int]]


def port(before: str) -> tuple[str, Codes, Codes]:
    """Return the ported text without the shim's import, and (code, line) rewritten and manual."""
    result = rewrite_source(before.encode())
    assert not result.failed, result.findings
    sites = {
        level: [(f.code, f.line) for f in result.findings if f.level is level] for level in Level
    }
    text = result.output.decode().replace(SHIM_IMPORT, "", 1)
    return text, sites[Level.REWRITTEN], sites[Level.MANUAL]


@pytest.fixture
def run_on_cpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a function that ports a text, runs it on the CPU, and returns what it defined."""
    monkeypatch.setenv("PORTER_DEVICE", "cpu")
    porter_runtime._reset()  # type: ignore[attr-defined]  # for tests, not in the stub

    def run(before: str) -> dict[str, Any]:
        names: dict[str, Any] = {}
        exec(compile(rewrite_source(before.encode()).output, "ported", "exec"), names)
        return names

    yield run
    porter_runtime._reset()  # type: ignore[attr-defined]  # for tests, not in the stub


def test_a_flag_named_cuda_stays_and_the_call_is_ported() -> None:
    text, rewritten, manual = port(
        "import torch\n"
        "args.cuda = torch.cuda.is_available() and not args.no_cuda\n"
        "if args.cuda:\n"
        "    net.cuda()\n"
    )
    assert text == (
        "import torch\n"
        "args.cuda = accel.is_available() and not args.no_cuda\n"
        "if args.cuda:\n"
        "    net.to(accel.device_type)\n"
    )
    assert rewritten == [("PTR201", 2), ("PTR101", 4)]
    assert manual == []


@pytest.mark.parametrize(
    "text",
    [
        "cuda = device.type != 'cpu'\nscaler = make(enabled=cuda)\n",
        "def f(x, cuda=False): ...\nf(x, cuda=True)\n",
        "from numba import cuda\n@cuda.jit\ndef k(a): a[cuda.grid(1)] = 0\n",
        "import cupy\ncupy.cuda.Stream.null.synchronize()\n",
        "cfg.cuda.visible = '0'\nself.backend.cuda.sync()\n",
        "use_cuda = True\ndef move_to_cuda(batch): ...\nmove_to_cuda(b)\n",
        "import tvm\nctx = tvm.cuda(0)\n",
    ],
)
def test_what_is_named_cuda_but_is_not_torchs_stays(text: str) -> None:
    result = rewrite_source(text.encode())
    assert result.output.decode() == text
    ours = ("PTR1", "PTR2", "PTR001")
    assert [f for f in result.findings if f.code.startswith(ours)] == []


def test_a_class_with_its_own_cuda_keeps_it_and_its_callers() -> None:
    text, rewritten, manual = port(
        "class Results:\n"
        "    def __init__(self, t): self.t = t\n"
        "    def cuda(self):\n"
        "        return Results(self.t.cuda())\n"
        "def f(r: Results, o: 'Results | None', t):\n"
        "    made = Results(0)\n"
        "    return Results(0).cuda(), r.cuda(), o.cuda(), made.cuda(), t.cuda()\n"
    )
    assert text.splitlines()[2:4] == [
        "    def cuda(self):",
        "        return Results(self.t.to(accel.device_type))",
    ]
    assert text.splitlines()[6] == (
        "    return Results(0).cuda(), r.cuda(), o.cuda(), made.cuda(), t.to(accel.device_type)"
    )
    assert rewritten == [("PTR101", 4), ("PTR101", 7)]
    assert manual == [("PTR101", 7)] * 4


@pytest.mark.parametrize(
    "init",
    [
        "    def __init__(self, rots: Optional[Rot]):\n        self._rots = rots\n",
        "    def __init__(self):\n        self._rots = Rot()\n",
        "    def __init__(self, r):\n        self._rots = Rot(r) if r else None\n",
        "    def __init__(self, r):\n        self._rots: Rot = Rot(r)\n",
    ],
)
def test_an_attribute_that_holds_such_an_object_is_left(init: str) -> None:
    text, rewritten, manual = port(
        "class Rot:\n    def cuda(self): ...\n    def to(self, device, dtype): ...\n"
        f"class Rigid:\n{init}"
        "    def cuda(self):\n        return self._rots.cuda(), self._trans.cuda()\n"
    )
    assert "return self._rots.cuda(), self._trans.to(accel.device_type)" in text
    assert [code for code, _ in rewritten] == ["PTR101"]
    assert [code for code, _ in manual] == ["PTR101"]


def test_an_override_keeps_calling_the_one_above() -> None:
    text, _, manual = port(
        "import torch.nn as nn\n"
        "class Enc(nn.Module):\n"
        "    def cuda(self, device=None):\n"
        "        super().cuda(device)\n"
        "        self.table = self.table.cuda(device)\n"
        "        return self\n"
        "class Big(Enc): ...\n"
        "a, b = Enc().cuda(), Big().cuda()\n"
    )
    assert "super().cuda(device)\n" in text
    assert "self.table = self.table.to(accel.torch_device(device))\n" in text
    assert text.endswith("a, b = Enc().cuda(), Big().cuda()\n")
    assert manual == [("PTR101", 4), ("PTR101", 8), ("PTR101", 8)]


@pytest.mark.parametrize(
    ("call", "ported"),
    [
        ("x.cuda(0, True)", "x.to(accel.torch_device(0), non_blocking=True)"),
        ("x.cuda(0, non_blocking=nb)", "x.to(accel.torch_device(0), non_blocking=nb)"),
        ("x.cuda(device=None)", "x.to(device=accel.device_type)"),
        ("x.cuda(self.rank)", "x.to(accel.torch_device(self.rank))"),
        ("x.cuda(i if i else j)", "x.to(accel.torch_device(i if i else j))"),
        ("(a + b).cuda()", "(a + b).to(accel.device_type)"),
        ("x[0].cuda()", "x[0].to(accel.device_type)"),
        ("f(x).cuda().half()", "f(x).to(accel.device_type).half()"),
        ("[t.cuda() for t in ts]", "[t.to(accel.device_type) for t in ts]"),
        ("y.cuda(x.get_device(), True)", "y.to(x.device, non_blocking=True)"),
        ("x.cuda( )", "x.to( accel.device_type)"),
        ("x.cuda(rank,)", "x.to(accel.torch_device(rank),)"),
    ],
)
def test_forms_of_the_call(call: str, ported: str) -> None:
    text, rewritten, _ = port(f"v = {call}\n")
    assert text == f"v = {ported}\n"
    assert rewritten == [("PTR101", 1)]


def test_nested_calls_are_ported_in_one_run() -> None:
    text, rewritten, _ = port("import torch\nz = torch.cat([a.cuda(), f(b.cuda(1))]).cuda()\n")
    assert text.splitlines()[1] == (
        "z = torch.cat([a.to(accel.device_type), f(b.to(accel.torch_device(1)))])"
        ".to(accel.device_type)"
    )
    assert len(rewritten) == 3


def test_crlf_and_comments_stay() -> None:
    before = b"y = x.cuda(  # move\r\n    rank,  # local\r\n    non_blocking=True,\r\n)  # noqa\r\n"
    output = rewrite_source(before).output
    assert output.endswith(
        b"y = x.to(  # move\r\n    accel.torch_device(rank),  # local\r\n"
        b"    non_blocking=True,\r\n)  # noqa\r\n"
    )
    assert b"\n" not in output.replace(b"\r\n", b"")


def test_a_comment_that_would_be_lost_leaves_the_expression() -> None:
    before = "import torch\ny = (x  # in\n     .record_stream(torch.cuda.current_stream()))\n"
    text, _, manual = port(before)
    assert text == before
    assert manual == [("PTR209", 2)]


def test_quantised_layers_are_left() -> None:
    before = (
        "import bitsandbytes as bnb\n"
        "def place(module, i):\n"
        "    if isinstance(module, bnb.nn.Linear8bitLt):\n"
        "        module.weight = module.weight.cuda(i)\n"
        "def move(t):\n"
        "    return t.cuda()\n"
    )
    text, rewritten, manual = port(before)
    assert "module.weight = module.weight.cuda(i)\n" in text
    assert rewritten == [("PTR101", 6)]
    assert ("PTR101", 4) in manual


def test_is_cuda_of_a_file_with_a_kernel_of_its_own_is_left_everywhere() -> None:
    before = (
        "import torch\n"
        "class Loss(torch.autograd.Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, acts):\n"
        "        run = gpu_rnnt if acts.is_cuda else cpu_rnnt\n"
        "        return run(acts)\n"
        "def loss(acts):\n"
        "    if not acts.is_cuda:\n"
        "        acts = acts.log_softmax(-1)\n"
        "    return Loss.apply(acts)\n"
    )
    text, _, manual = port(before)
    assert text == before
    assert manual == [("PTR103", 5), ("PTR103", 8)]


def test_is_cuda_beside_an_unrelated_function_is_ported() -> None:
    text, rewritten, _ = port(
        "import torch\n"
        "class Scale(torch.autograd.Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x):\n"
        "        return x * 2\n"
        "def norm(t):\n"
        "    if t.is_cuda:\n"
        "        return t.float().norm()\n"
        "    return t.norm()\n"
    )
    assert "    if accel.is_accelerator(t):\n" in text
    assert rewritten == [("PTR103", 7)]


def test_is_cuda_inside_torchscript_is_left() -> None:
    before = (
        "import torch\n"
        "@torch.jit.script\n"
        "def f(x: torch.Tensor):\n"
        "    if x.is_cuda:\n"
        "        return x.half()\n"
        "    return x.cuda()\n"
    )
    text, _, manual = port(before)
    assert text == before
    assert manual == [("PTR103", 4), ("PTR101", 6)]


def test_legacy_types_mean_the_cpus_without_an_accelerator(run_on_cpu: Any) -> None:
    names = run_on_cpu(
        "import torch\n"
        "T = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor\n"
        "x = T(2).zero_()\n"
        "ok = isinstance(x, torch.cuda.FloatTensor)\n"
        "either = isinstance(x, (torch.FloatTensor, torch.cuda.FloatTensor))\n"
        "i = x.type(torch.cuda.LongTensor)\n"
        "flags = torch.cuda.LongTensor([1, 2])\n"
    )
    assert names["x"].dtype == torch.float32
    assert names["ok"] is False, "as before: nothing lies on CUDA"
    assert names["either"] is True
    assert names["i"].dtype == torch.int64
    assert names["flags"].tolist() == [1, 2]


def test_a_check_of_an_imported_legacy_type_among_others_is_left() -> None:
    text, _, manual = port(
        "from torch.cuda import FloatTensor\nok = isinstance(x, (list, FloatTensor))\n"
    )
    assert text.endswith("ok = isinstance(x, (list, FloatTensor))\n")
    assert manual == [("PTR110", 2)]


def test_modules_and_tensors_move_and_train_on_the_cpu(run_on_cpu: Any) -> None:
    names = run_on_cpu(
        "import torch\n"
        "net = torch.nn.Linear(2, 1)\n"
        "net.cuda()\n"
        "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "before = net.weight.detach().clone()\n"
        "x = torch.ones(4, 2).cuda(0, non_blocking=True)\n"
        "y = torch.zeros(4, 1).cuda(x.get_device())\n"
        "torch.nn.functional.mse_loss(net(x), y).backward()\n"
        "optimizer.step()\n"
        "moved = not torch.equal(before, net.weight)\n"
        "pinned = x.is_cuda or next(net.parameters()).is_cuda\n"
    )
    assert names["moved"]
    assert names["pinned"] is False
