"""Comparisons with "cuda": the port gives the old answer on CUDA, its meaning elsewhere."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from porter.engine import rewrite_source
from porter.model import Level

SHIM_IMPORT = "import porter_runtime as accel\n"


def port(before: str) -> tuple[str, list[tuple[str, int]], list[tuple[str, int]]]:
    """Return the ported text without the shim's import, and (code, line) rewritten and manual."""
    result = rewrite_source(before.encode())
    assert not result.failed, result.findings
    text = result.output.decode().replace(SHIM_IMPORT, "", 1)
    rewritten = [(f.code, f.line) for f in result.findings if f.level is Level.REWRITTEN]
    manual = [(f.code, f.line) for f in result.findings if f.level is Level.MANUAL]
    return text, rewritten, manual


def shim(backend: str) -> SimpleNamespace:
    """Return what the shim answers on a backend, in the terms of its documentation."""

    def is_accelerator(x: Any) -> bool:
        kind = x.partition(":")[0] if isinstance(x, str) else getattr(x, "device", x).type
        return backend != "cpu" and kind in ("cuda", backend)

    def torch_device(index: int) -> torch.device:
        return torch.device(backend) if backend == "cpu" else torch.device(backend, index)

    return SimpleNamespace(
        device_type=backend,
        is_accelerator=is_accelerator,
        is_available=lambda: backend != "cpu",
        torch_device=torch_device,
    )


def answer(expression: str, backend: str, device: str | torch.device, i: int = 1) -> bool:
    names = {"torch": torch, "accel": shim(backend), "device": device, "i": i, "t": None}
    names["t"] = SimpleNamespace(device=device)
    return bool(eval(expression, names))


STR_FORMS = [
    'device == "cuda"',
    'device != "cuda"',
    '"cuda" == device',
    'device == "cuda:0"',
    'f"cuda:{i}" == device',
    'device != "cuda:%d" % i',
    '"cuda" in device',
    '"cuda" not in device',
    'device.startswith("cuda")',
    'device in ("cuda",)',
    'device in ("cuda", "mps")',
    'device not in ["mps", "cuda", "xla"]',
    'device in {"cuda", "cpu"}',
    'device.split(":")[0] == "cuda"',
]
DEVICE_FORMS = [
    'device.type == "cuda"',
    'device.type != "cuda"',
    't.device.type == "cuda"',
    '"cuda" in device.type',
    '"cuda" in str(device)',
    'str(device) == "cuda"',
    'str(device) != "cuda:1"',
    'str(device).startswith("cuda")',
    'device.type in ("cuda", "mps")',
    'device.type not in ("mps", "cuda")',
    'device.type in ["cpu", "cuda"]',
    'device == torch.device("cuda")',
    'device != torch.device("cuda:0")',
    'device == torch.device("cuda", i)',
]
CASES = [(form, False) for form in STR_FORMS] + [(form, True) for form in DEVICE_FORMS]


@pytest.mark.parametrize(("form", "typed"), CASES)
def test_answers_on_every_backend(form: str, typed: bool) -> None:
    """What is CUDA's on CUDA is the other accelerator's there; the CPU has none of it.

    The other accelerator is "xpu" here, since torch refuses "npu" where nobody has registered it.
    """
    make = torch.device if typed else str
    after, rewritten, _ = port(f"ok = {form}\n")
    after = after.removeprefix("ok = ").strip()
    assert rewritten
    for name in ("cuda", "cuda:0", "cuda:1", "cpu", "mps"):
        old = answer(form, "cuda", make(name))
        assert answer(after, "cuda", make(name)) == old, f"{name} on CUDA"
        there = name.replace("cuda", "xpu")
        assert answer(after, "xpu", make(there)) == old, f"{there} on another accelerator"
        if not name.startswith("cuda"):
            assert answer(after, "cpu", make(name)) == old, f"{name} without an accelerator"


def test_five_spellings_of_one_question() -> None:
    before = (
        "if device.type == 'cuda': ...\n"
        "if device != 'cuda': ...\n"
        "if 'cuda' in str(device): ...\n"
        "if str(device).startswith('cuda'): ...\n"
        "if device.type in ('cuda', 'mps'): ...\n"
    )
    after, rewritten, manual = port(before)
    assert after == (
        "if accel.is_accelerator(device): ...\n"
        "if not (accel.is_accelerator(device) and device == accel.device_type): ...\n"
        "if accel.is_accelerator(device): ...\n"
        "if accel.is_accelerator(device): ...\n"
        "if accel.is_accelerator(device) or device.type == 'mps': ...\n"
    )
    assert rewritten == [("PTR305", line) for line in range(1, 6)]
    assert not manual


def test_an_index_that_the_user_chose_survives() -> None:
    """`d == "cuda"` must stay false for "cuda:1", which would lose its index here."""
    before = (
        "import torch\n"
        "def resolve(device):\n"
        '    if device == "cuda":\n'
        '        device = f"cuda:{torch.cuda.current_device()}"\n'
        "    return device\n"
    )
    after, _, manual = port(before)
    assert not manual
    names: dict[str, Any] = {"accel": shim("cuda")}
    names["accel"].current_device = lambda: 3
    exec(after, names)
    assert names["resolve"]("cuda:1") == "cuda:1"
    assert names["resolve"]("cuda") == "cuda:3"


@pytest.mark.parametrize(
    "refusal",
    [
        'if device == "cuda" and not torch.cuda.is_available():\n    raise SystemExit("no cuda")\n',
        'if not torch.cuda.is_available() and "cuda" in args.device:\n    args.device = "cpu"\n',
        'assert device.type != "cuda" or torch.cuda.is_available()\n',
    ],
)
def test_both_halves_of_a_refusal_stay(refusal: str) -> None:
    before = "import torch\n" + refusal
    after, rewritten, manual = port(before)
    assert after == before
    assert not rewritten
    assert manual == [("PTR310", 2)]


def test_an_unknown_half_keeps_the_other() -> None:
    before = (
        "import torch\n"
        'if torch.cuda.is_available() and backend == "cuda":\n'
        '    device = "cuda"\n'
        "else:\n"
        '    device = "cpu"\n'
    )
    after, rewritten, manual = port(before)
    assert after == before
    assert not rewritten
    assert {line for _, line in manual} == {2, 3}


def test_strings_that_are_taken_apart() -> None:
    before = (
        'if isinstance(device, str) and device.startswith("cuda:"):\n    index = int(device[5:])\n'
    )
    assert port(before) == (before, [], [("PTR305", 1)])


def test_both_sides_of_a_comparison_of_strings() -> None:
    before = (
        'self.last = "cuda:" + str(max(keys))\n'
        'if i == v[-1] and "cuda:" + str(k) != self.last_device: ...\n'
    )
    after, _, manual = port(before)
    assert after == (
        "self.last = str(accel.torch_device(max(keys)))\n"
        "if i == v[-1] and not (accel.is_accelerator(self.last_device) and "
        "self.last_device == str(accel.torch_device(k))): ...\n"
    )
    assert not manual


def test_a_variable_that_the_shim_made_a_device_is_one_to_the_next_run() -> None:
    text, rewritten, manual = port("d = torch.device(f'cuda:{i}')\nok = d == 'cuda'\n")
    assert text == "d = accel.torch_device(i)\nok = d == 'cuda'\n"
    assert (rewritten, manual) == ([("PTR301", 1)], [("PTR305", 2)])
    assert port(SHIM_IMPORT + text)[0] == text
