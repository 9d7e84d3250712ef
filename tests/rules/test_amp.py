"""Mixed precision: whole files before and after, and what the calls mean on CUDA."""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import Any

import pytest

from porter.engine import rewrite_source
from porter.model import Finding, Level

SHIM_IMPORT = "import porter_runtime as accel\n"


def port(before: str) -> tuple[str, tuple[Finding, ...]]:
    result = rewrite_source(before.encode())
    assert not result.failed, result.findings
    return result.output.decode(), result.findings


def lines(findings: tuple[Finding, ...], level: Level) -> list[tuple[str, int]]:
    return [(f.code, f.line) for f in findings if f.level is level]


def test_the_first_positional_argument_is_the_flag() -> None:
    text, findings = port(
        "import torch\n"
        "def step(m, x, use_amp):\n"
        "    with torch.cuda.amp.autocast(use_amp):\n"
        "        return m(x)\n"
    )
    assert text == (
        "import torch\n"
        "import porter_runtime as accel\n"
        "def step(m, x, use_amp):\n"
        "    with accel.autocast(enabled=use_amp):\n"
        "        return m(x)\n"
    )
    assert lines(findings, Level.REWRITTEN) == [("PTR401", 3)]


def test_imported_names_need_nothing_where_they_are_used() -> None:
    text, findings = port(
        "import torch\n"
        "from torch.cuda.amp import autocast, GradScaler as GS\n"
        "scaler = GS(enabled=True)\n"
        "with autocast(dtype=torch.float16):\n"
        "    pass\n"
        "with autocast(False):\n"
        "    pass\n"
    )
    assert text == (
        "import torch\n"
        "from porter_runtime import autocast, GradScaler as GS\n"
        "scaler = GS(enabled=True)\n"
        "with autocast(dtype=torch.float16):\n"
        "    pass\n"
        "with autocast(False):\n"
        "    pass\n"
    )
    assert not lines(findings, Level.MANUAL)


def test_custom_functions_keep_their_form() -> None:
    text, findings = port(
        "import torch\n"
        "class F(torch.autograd.Function):\n"
        "    @staticmethod\n"
        "    @torch.cuda.amp.custom_fwd(cast_inputs=torch.float32)\n"
        "    def forward(ctx, x):\n"
        "        return x * 2\n"
        "    @staticmethod\n"
        "    @torch.cuda.amp.custom_bwd\n"
        "    def backward(ctx, g):\n"
        "        return g * 2\n"
    )
    assert "    @accel.custom_fwd(cast_inputs=torch.float32)\n" in text
    assert "    @accel.custom_bwd\n" in text
    assert lines(findings, Level.REWRITTEN) == [("PTR403", 4), ("PTR403", 8)]


def test_a_version_guard_ports_both_branches() -> None:
    text, _ = port(
        "import torch\n"
        "if version < 2.4:\n"
        "    fwd = torch.cuda.amp.custom_fwd\n"
        "else:\n"
        '    fwd = torch.amp.custom_fwd(device_type="cuda")\n'
    )
    assert text.replace(SHIM_IMPORT, "") == (
        "import torch\n"
        "if version < 2.4:\n"
        "    fwd = accel.custom_fwd\n"
        "else:\n"
        "    fwd = accel.custom_fwd()\n"
    )


def test_a_ternary_of_device_types_keeps_its_cpu_branch() -> None:
    text, findings = port(
        "import torch\n"
        'with torch.autocast("cuda" if torch.cuda.is_available() else "cpu", dtype=d):\n'
        "    pass\n"
    )
    assert "cuda" not in text
    assert "torch.autocast(accel.device_type" in text
    assert not lines(findings, Level.MANUAL)


def test_the_device_types_comment_stays_with_what_takes_its_place() -> None:
    before = 'import torch\ncm = torch.autocast(\n    "cuda",  # amp\n    dtype=d,\n)\n'
    text, _ = port(before)
    assert text.replace(SHIM_IMPORT, "") == (
        "import torch\ncm = accel.autocast(\n    cache_enabled=None,  # amp\n    dtype=d,\n)\n"
    )


def test_comments_of_a_dropped_argument_are_not_lost() -> None:
    before = (
        "import torch\n"
        'cm = torch.autocast(\n    "cuda",  # amp\n    dtype=d,\n    cache_enabled=False,\n)\n'
    )
    text, findings = port(before)
    assert text == before
    assert [f.level for f in findings] == [Level.MANUAL]


@pytest.mark.parametrize(
    "call",
    [
        'partial(torch.autocast, "cuda")',
        'partial(torch.autocast, "cuda", enabled=flag)',
        'partial(torch.autocast, "cuda", dtype=d, **kwargs)',
    ],
)
def test_what_callers_of_a_partial_pass_by_position_is_not_guessed(call: str) -> None:
    """torch.autocast takes a dtype where accel.autocast takes the flag."""
    before = f"import torch\nfrom functools import partial\namp = {call}\n"
    text, findings = port(before)
    assert text == before
    assert lines(findings, Level.MANUAL) == [("PTR401", 3)]


def test_state_in_scripted_code_is_reported() -> None:
    before = (
        "import torch\n"
        "@torch.jit.script\n"
        "def f(x: torch.Tensor):\n"
        "    if torch.is_autocast_enabled():\n"
        "        return x.half()\n"
        "    return x\n"
    )
    text, findings = port(before)
    assert text == before
    assert lines(findings, Level.MANUAL) == [("PTR404", 4)]


def test_names_of_other_libraries_are_not_touched() -> None:
    before = (
        "import oneflow as flow\n"
        "from apex import amp\n"
        "cm = flow.cuda.amp.autocast(True)\n"
        "model = amp.initialize(model)\n"
        "scaler = amp.GradScaler()\n"
    )
    text, findings = port(before)
    assert text == before
    assert not any(f.code.startswith("PTR4") for f in findings)


def autocast_of_torch(
    device_type: str,
    dtype: object = None,
    enabled: bool = True,
    cache_enabled: bool | None = None,
) -> tuple[object, ...]:
    return device_type, dtype, enabled, cache_enabled


def autocast_of_cuda(
    enabled: bool = True, dtype: object = "float16", cache_enabled: bool | None = True
) -> tuple[object, ...]:
    return autocast_of_torch("cuda", dtype, enabled, cache_enabled)


@pytest.mark.parametrize(
    "call",
    [
        "torch.cuda.amp.autocast()",
        "torch.cuda.amp.autocast(False)",
        "torch.cuda.amp.autocast(False, 'bfloat16', False)",
        "torch.cuda.amp.autocast(cache_enabled=None)",
        "torch.autocast('cuda', cache_enabled=False)",
        "torch.autocast('cuda', 'bfloat16', True, False)",
        "functools.partial(torch.autocast, 'cuda', dtype='bfloat16')()",
        "functools.partial(torch.cuda.amp.autocast, False)('bfloat16')",
        "torch.cuda.amp.autocast(False, 'bfloat16')",
        "torch.cuda.amp.autocast(dtype='bfloat16')",
        "torch.cuda.amp.autocast(**{'dtype': None})",
        "torch.autocast('cuda')",
        "torch.autocast('cuda', 'bfloat16')",
        "torch.autocast('cuda', 'bfloat16', False)",
        "torch.autocast('cuda', enabled=False)",
        "torch.autocast('cuda', None, enabled=False)",
        "torch.amp.autocast(enabled=False, device_type='cuda')",
        "torch.amp.autocast(device_type='cuda', dtype='bfloat16', enabled=True)",
    ],
)
def test_on_cuda_the_same_autocast_is_entered(call: str) -> None:
    """The shim's autocast has the signature of torch.cuda.amp's; torch.autocast's is another."""
    torch: Any = SimpleNamespace(
        autocast=autocast_of_torch,
        amp=SimpleNamespace(autocast=autocast_of_torch),
        cuda=SimpleNamespace(amp=SimpleNamespace(autocast=autocast_of_cuda)),
    )
    text, _ = port(f"import functools\nimport torch\nentered = {call}\n")
    ported = text.rpartition("entered = ")[2]
    assert "torch." not in ported
    accel = SimpleNamespace(autocast=autocast_of_cuda)
    names = {"functools": functools, "torch": torch, "accel": accel}
    assert eval(ported, names) == eval(call, names)


def scaler_of_torch(
    device: str = "cuda", init_scale: float = 1.0, growth_factor: float = 2.0, enabled: bool = True
) -> tuple[object, ...]:
    return device, init_scale, growth_factor, enabled


def scaler_of_cuda(
    init_scale: float = 1.0, growth_factor: float = 2.0, enabled: bool = True
) -> tuple[object, ...]:
    return scaler_of_torch("cuda", init_scale, growth_factor, enabled)


@pytest.mark.parametrize(
    "call",
    [
        "torch.cuda.amp.GradScaler()",
        "torch.cuda.amp.GradScaler(8.0, enabled=False)",
        "torch.amp.GradScaler()",
        "torch.amp.GradScaler(enabled=False)",
        "torch.amp.GradScaler('cuda', 8.0, 3.0)",
        "torch.amp.GradScaler(init_scale=8.0, device='cuda')",
        "torch.amp.GradScaler('cuda', **{'enabled': False})",
    ],
)
def test_on_cuda_the_same_scaler_is_made(call: str) -> None:
    torch: Any = SimpleNamespace(
        amp=SimpleNamespace(GradScaler=scaler_of_torch),
        cuda=SimpleNamespace(amp=SimpleNamespace(GradScaler=scaler_of_cuda)),
    )
    text, _ = port(f"import torch\nmade = {call}\n")
    ported = text.rpartition("made = ")[2]
    assert ported.startswith("accel.GradScaler(")
    accel = SimpleNamespace(GradScaler=scaler_of_cuda)
    assert eval(ported, {"accel": accel}) == eval(call, {"torch": torch})
