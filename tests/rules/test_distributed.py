"""Distributed training: whole files before and after, and what the port means on each device."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from porter.engine import rewrite_source
from porter.model import Finding, Level

SHIM_IMPORT = "import porter_runtime as accel\n"
BACKENDS = {"cuda": "nccl", "npu": "hccl", "cpu": "gloo"}


def port(before: str) -> tuple[str, tuple[Finding, ...]]:
    """Port a module's text and take the shim's import off again."""
    result = rewrite_source(before.encode())
    assert not result.failed, result.findings
    return result.output.decode().replace(SHIM_IMPORT, "", 1), result.findings


def lines(findings: tuple[Finding, ...], level: Level) -> list[tuple[str, int]]:
    return [(f.code, f.line) for f in findings if f.level is level]


def shim(device: str) -> Any:
    """Return what the rules ask of the shim, for one kind of device."""
    on_cpu = device == "cpu"

    def dist_backend(cpu: bool = False) -> str:
        if on_cpu or not cpu:
            return BACKENDS[device]
        return f"cpu:gloo,{device}:{BACKENDS[device]}"

    return SimpleNamespace(
        is_available=lambda: not on_cpu,
        dist_backend=dist_backend,
        device_ids=lambda rank: None if on_cpu else [rank],
        device_id=lambda rank: None if on_cpu else rank,
    )


def test_wrapping_a_model() -> None:
    text, findings = port(
        "from torch.nn.parallel import DistributedDataParallel as DDP\n"
        "def wrap(m, lr):\n"
        "    return DDP(m.cuda(lr), device_ids=[lr], output_device=lr, "
        "find_unused_parameters=True)\n"
    )
    assert text == (
        "from torch.nn.parallel import DistributedDataParallel as DDP\n"
        "def wrap(m, lr):\n"
        "    return DDP(m.to(accel.torch_device(lr)), device_ids=accel.device_ids(lr), "
        "output_device=accel.device_id(lr), find_unused_parameters=True)\n"
    )
    assert ("PTR503", 3) in lines(findings, Level.REWRITTEN)


def test_default_assertion_call_and_comparison_change_together() -> None:
    text, findings = port(
        "import torch.distributed as dist\n"
        'def setup(backend="nccl"):\n'
        '    assert backend in ("nccl", "gloo")\n'
        '    dist.init_process_group(backend, init_method="env://")\n'
        '    if dist.get_backend() == "nccl":\n'
        '        print("fast path")\n'
    )
    assert text == (
        "import torch.distributed as dist\n"
        "def setup(backend=accel.dist_backend()):\n"
        '    assert backend in (accel.dist_backend(), "gloo")\n'
        '    dist.init_process_group(backend, init_method="env://")\n'
        "    if accel.is_available() and dist.get_backend() == accel.dist_backend():\n"
        '        print("fast path")\n'
    )
    assert lines(findings, Level.REWRITTEN) == [("PTR501", 2), ("PTR510", 3), ("PTR510", 5)]


@pytest.mark.parametrize(
    "unclear",
    [
        'launch(rank, "nccl")',
        'TABLE = {"nccl": 1}',
        'fast = backend.startswith("nccl")',
        'match backend:\n    case "nccl":\n        pass',
        'kind: Literal["nccl"] = other',
        'dist.init_process_group("cuda:nccl,cpu:gloo")',
    ],
)
def test_one_unclear_site_leaves_them_all(unclear: str) -> None:
    before = (
        "import torch.distributed as dist\n"
        'def setup(backend="nccl"):\n'
        '    assert backend in ("nccl", "gloo")\n'
        "    dist.init_process_group(backend)\n"
        'if dist.get_backend() == "nccl" and dist.is_nccl_available():\n'
        "    pass\n"
        'p.add_argument("--backend", default="nccl", choices=["nccl", "gloo"])\n'
        f"{unclear}\n"
    )
    text, findings = port(before)
    assert text == before
    assert not lines(findings, Level.REWRITTEN)
    found = [line for _, line in lines(findings, Level.MANUAL)]
    assert {2, 3, 5, 7} < set(found), "each site is reported"
    assert max(found) >= 8, "and so is the one that is the reason"


def test_text_is_no_vote() -> None:
    text, _ = port(
        "import torch.distributed as dist\n"
        'dist.init_process_group("nccl")\n'
        'print("nccl")\n'
        'logger.info("nccl")\n'
        'raise RuntimeError("nccl")\n'
    )
    assert text == (
        "import torch.distributed as dist\n"
        "dist.init_process_group(accel.dist_backend())\n"
        'print("nccl")\n'
        'logger.info("nccl")\n'
        'raise RuntimeError("nccl")\n'
    )


def test_the_order_of_set_device_and_init_stays() -> None:
    text, _ = port(
        "import os, torch, torch.distributed as dist\n"
        'lr = int(os.environ["LOCAL_RANK"])\n'
        "torch.cuda.set_device(lr)\n"
        'dist.init_process_group("nccl", device_id=torch.device("cuda", lr))\n'
    )
    assert text == (
        "import os, torch, torch.distributed as dist\n"
        'lr = int(os.environ["LOCAL_RANK"])\n'
        "accel.set_device(lr)\n"
        "dist.init_process_group(accel.dist_backend(), "
        "device_id=accel.device_id(accel.torch_device(lr)))\n"
    )


def test_a_dataclass_default_that_is_compared_with_itself() -> None:
    text, _ = port(
        "@dataclass\n"
        "class InitProcessGroupKwargs(KwargsHandler):\n"
        '    backend: Optional[str] = "nccl"\n'
        "    init_method: Optional[str] = None\n"
    )
    assert "    backend: Optional[str] = accel.dist_backend()\n" in text


def test_a_ladder_that_knows_hccl_is_left() -> None:
    before = (
        "import torch.distributed as dist\n"
        "def device(backend):\n"
        '    if backend == "hccl":\n'
        "        return 1\n"
        "    elif backend == dist.Backend.NCCL:\n"
        "        return 2\n"
        "    return 3\n"
    )
    text, findings = port(before)
    assert text == before
    assert lines(findings, Level.NOTE) == [("PTR510", 5)]


COMPARISONS = [
    'backend == "nccl"',
    '"nccl" == backend',
    'backend != "nccl"',
    'not backend == "nccl"',
    'backend == "nccl" or backend == "mpi"',
    'not (backend == "nccl" or backend == "mpi")',
    'backend in ("nccl", "gloo")',
    'backend not in ("gloo", "nccl")',
    'bool(backend) and backend == "nccl"',
    'bool(backend) and backend and backend != "nccl"',
    'backend == "nccl" and bool(backend)',
    'backend == "" or backend != "nccl"',
    '(backend == "nccl") or backend == "mpi"',
    'backend in ["nccl"]',
    'backend not in {"nccl", "mpi"}',
    'backend in ("mpi", "nccl")',
    'backend in ("nccl",)',
    '"nccl" in backend',
    '"nccl" not in backend',
    'backend.upper() == "NCCL"',
    '("yes" if backend == "nccl" else "no") + "!"',
    '[b for b in [backend] if b == "nccl"] == [backend]',
]


@pytest.mark.parametrize("device", BACKENDS)
@pytest.mark.parametrize("text", COMPARISONS)
def test_comparisons_mean_the_same_on_every_device(text: str, device: str) -> None:
    """On the NPU hccl takes NCCL's part; without an accelerator gloo keeps its own."""
    ported, _ = port(f"answer = {text}\n")
    assert "accel.dist_backend()" in ported
    expression = ported.removeprefix("answer = ")
    for backend in (BACKENDS[device], "gloo", "mpi"):
        meant = "nccl" if backend == "hccl" else backend
        answer = eval(expression, {"accel": shim(device), "backend": backend})
        assert answer == eval(text, {"backend": meant}), (backend, expression)


@pytest.mark.parametrize("device", BACKENDS)
@pytest.mark.parametrize(
    "text",
    [
        '"nccl" if torch.cuda.is_available() else "gloo"',
        '"gloo" if not torch.cuda.is_available() else "nccl"',
        '"nccl" if dist.is_nccl_available() else "gloo"',
        '"gloo" if not dist.is_nccl_available() else "nccl"',
        '"nccl" if torch.cuda.is_available() and dist.is_nccl_available() else "gloo"',
    ],
)
def test_the_choice_of_a_backend_follows_the_device(text: str, device: str) -> None:
    ported, findings = port(f"import torch\nimport torch.distributed as dist\nbackend = {text}\n")
    assert not lines(findings, Level.MANUAL)
    dist = SimpleNamespace(is_backend_available=lambda name: name in (BACKENDS[device], "gloo"))
    expression = ported.rpartition("backend = ")[2]
    assert eval(expression, {"accel": shim(device), "dist": dist}) == BACKENDS[device]


def test_a_cuda_machine_without_nccl_still_takes_gloo() -> None:
    ported, _ = port(
        "import torch.distributed as dist\n"
        'backend = "nccl" if dist.is_nccl_available() else "gloo"\n'
    )
    dist = SimpleNamespace(is_backend_available=lambda name: name == "gloo")
    expression = ported.rpartition("backend = ")[2]
    assert eval(expression, {"accel": shim("cuda"), "dist": dist}) == "gloo"


def test_choices_admit_the_default_and_are_the_old_ones_on_cuda() -> None:
    before = 'options = dict(default="nccl", choices=["gloo", "nccl", "mpi"], backend=None)\n'
    ported, _ = port(before)
    expression = ported.removeprefix("options = ")
    on = {device: eval(expression, {"accel": shim(device)}) for device in BACKENDS}
    assert on["cuda"] == eval(before.removeprefix("options = "))
    assert on["npu"]["choices"] == ["gloo", "nccl", "mpi", "hccl"]
    assert on["cpu"]["choices"] == ["gloo", "nccl", "mpi"]
    assert all(o["default"] in o["choices"] for o in on.values())


CALLS = [
    "DDP(m, device_ids=[rank], output_device=rank)",
    "DDP(m, device_ids=[rank] if flag else None)",
    "DDP(m, device_ids=None, output_device=rank if flag else None)",
    "dist.barrier(device_ids=[rank])",
    'dist.init_process_group("nccl", device_id=rank)',
    'dist.init_process_group(backend="NCCL")',
    'dist.new_group([0], None, "nccl")',
    'dist.init_process_group("cpu:gloo,cuda:nccl")',
]


@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.parametrize("text", CALLS)
def test_on_cuda_the_arguments_are_the_same(text: str, flag: bool) -> None:
    ported, _ = port(f"import torch.distributed as dist\ncall = {text}\n")
    expression = ported.rpartition("call = ")[2]
    assert "accel." in expression

    def record(*args: object, **kwargs: object) -> tuple[object, ...]:
        return args, kwargs

    dist = SimpleNamespace(barrier=record, init_process_group=record, new_group=record)
    names = {"DDP": record, "dist": dist, "m": "m", "rank": 3, "flag": flag}
    before = eval(text, dict(names))
    assert eval(expression, {**names, "accel": shim("cuda")}) == before
    _, on_cpu = eval(expression, {**names, "accel": shim("cpu")})
    assert on_cpu.get("device_ids") is None
    assert on_cpu.get("output_device") is None
    assert on_cpu.get("device_id") is None


def test_data_parallel_keeps_the_ports_inside() -> None:
    text, findings = port("import torch\nm = torch.nn.DataParallel(m.cuda())\n")
    assert text == "import torch\nm = torch.nn.DataParallel(m.to(accel.device_type))\n"
    assert lines(findings, Level.MANUAL) == [("PTR507", 2)]


def test_a_converted_port_is_not_converted_again() -> None:
    before = "import torch\nm = torch.nn.SyncBatchNorm.convert_sync_batchnorm(m).to(d)\n"
    once = rewrite_source(before.encode()).output
    assert b"(m) if accel.is_available() else m).to(d)" in once
    assert rewrite_source(once).output == once


def test_nccl_classes_do_not_stop_the_backend() -> None:
    text, findings = port(
        "import torch.distributed as dist\n"
        'dist.init_process_group("nccl")\n'
        "options = dist.ProcessGroupNCCL.Options()\n"
    )
    assert "dist.init_process_group(accel.dist_backend())\n" in text
    assert lines(findings, Level.MANUAL) == [("PTR508", 3)]
