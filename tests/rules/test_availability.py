"""Availability tests and the devices that they choose: they move together or not at all."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from porter.engine import rewrite_source
from porter.model import Level

SHIM_IMPORT = "import porter_runtime as accel\n"


def port(before: str) -> tuple[str, list[tuple[str, int]]]:
    """Return the ported text without the shim's import, and (code, line) of what is left."""
    result = rewrite_source(before.encode())
    assert not result.failed, result.findings
    text = result.output.decode().replace(SHIM_IMPORT, "", 1)
    return text, [(f.code, f.line) for f in result.findings if f.level is Level.MANUAL]


TERNARIES = [
    '"cuda" if torch.cuda.is_available() else "cpu"',
    '"cpu" if not torch.cuda.is_available() else "cuda"',
    '"cuda:1" if torch.cuda.is_available() else "cpu"',
    'f"cuda:{i}" if torch.cuda.is_available() else "cpu"',
    'f"cuda:{pick()}" if torch.cuda.is_available() else "cpu"',
    '"cuda" if torch.cuda.is_available() and not no_cuda else "cpu"',
    'f"cuda:{i}" if torch.cuda.is_available() and not no_cuda else "cpu"',
    '"cuda" if torch.cuda.is_available() else "mps" if mps else "cpu"',
    '(torch.cuda.is_available() and "cuda") or "cpu"',
    '["cpu", "cuda"][torch.cuda.is_available()]',
    '{True: "cuda", False: "cpu"}[torch.cuda.is_available()]',
]


def backend_names(backend: str, asked: list[int]) -> dict[str, Any]:
    """Return a torch that has just this backend, and the shim's answers there."""

    def torch_device(index: int) -> torch.device:
        return torch.device("cpu") if backend == "cpu" else torch.device(backend, index)

    available = SimpleNamespace(is_available=lambda: backend == "cuda")
    shim = SimpleNamespace(
        device_type=backend, is_available=lambda: backend != "cpu", torch_device=torch_device
    )

    def pick() -> int:
        asked.append(1)
        return 1

    return {"torch": SimpleNamespace(cuda=available, device=torch.device), "accel": shim} | {
        "i": 1,
        "pick": pick,
        "mps": False,
    }


@pytest.mark.parametrize("no_cuda", [False, True])
@pytest.mark.parametrize("ternary", TERNARIES)
def test_the_choice_on_every_backend(ternary: str, no_cuda: bool) -> None:
    """On CUDA and the CPU as before, and the index asked for as often; "xpu" is the other one."""
    after, manual = port(f"import torch\nimport x\ndevice = {ternary}\n")
    after = after.partition("device = ")[2].strip()
    assert not manual
    assert "cuda" not in after.replace("no_cuda", "")
    for backend in ("cuda", "cpu"):
        asked: list[int] = []
        names = backend_names(backend, asked) | {"no_cuda": no_cuda}
        old = eval(ternary, dict(names))
        times = len(asked)
        assert eval(after, dict(names)) == old
        assert len(asked) == 2 * times
    cuda = backend_names("cuda", []) | {"no_cuda": no_cuda}
    other = backend_names("xpu", []) | {"no_cuda": no_cuda}
    assert eval(after, other) == eval(ternary, cuda).replace("cuda", "xpu")


def test_the_users_opt_out_is_kept() -> None:
    before = (
        "import torch\n"
        "def pick(args):\n"
        '    return torch.device("cuda" if torch.cuda.is_available() and not args.no_cuda'
        ' else "cpu")\n'
        "dev = torch.device('cuda:0' if torch.cuda.is_available() and not args.cpu else 'cpu')\n"
    )
    after, manual = port(before)
    assert after == (
        "import torch\n"
        "def pick(args):\n"
        "    return torch.device(accel.device_type if accel.is_available() and not args.no_cuda"
        ' else "cpu")\n'
        "dev = torch.device(accel.torch_device(0) if accel.is_available() and not args.cpu"
        " else 'cpu')\n"
    )
    assert not manual


def test_a_guard_and_the_device_under_it() -> None:
    before = (
        "import torch\n"
        "def choose(rank):\n"
        "    try:\n"
        "        if torch.cuda.is_available():\n"
        '            return f"cuda:{rank}"\n'
        '        raise SystemError("no device")\n'
        "    except Exception:\n"
        '        return "cpu"\n'
    )
    after, manual = port(before)
    assert "        if accel.is_available():\n" in after
    assert "            return str(accel.torch_device(rank))\n" in after
    assert not manual


@pytest.mark.parametrize("left", ['backend = "cuda"', 'run("cuda")', 'kind = ["cuda"]'])
def test_a_guard_stays_with_a_string_that_stays(left: str) -> None:
    before = (
        "import torch\n"
        "if torch.cuda.is_available():\n"
        '    device = "cuda"\n'
        f"    {left}\n"
        "else:\n"
        '    device = "cpu"\n'
    )
    after, manual = port(before)
    assert after == before
    assert [line for _, line in manual] == [2, 3, 4]


def test_what_is_moved_under_a_guard_that_stays_is_ported() -> None:
    """Only a device that leaves the branch belongs to the guard."""
    before = (
        'import torch\nif torch.cuda.is_available():\n    backend = "cuda"\n    x = x.to("cuda")\n'
    )
    after, _ = port(before)
    assert "    x = x.to(accel.device_type)\n" in after


@pytest.mark.parametrize("test", ["is_npu_available()", "hasattr(torch, 'npu')"])
def test_a_ladder_that_knows_the_npu_stays(test: str) -> None:
    before = (
        "import torch\n"
        f"if {test}:\n"
        '    dev = "npu"\n'
        "elif torch.cuda.is_available():\n"
        '    dev = "cuda"\n'
        '    dev = torch.device("cuda:0")\n'
    )
    assert port(before) == (before, [])


def test_a_ladder_that_knows_another_accelerator_is_ported() -> None:
    before = 'if input_device.type == "mps":\n    dev = "mps"\nelse:\n    dev = "cuda"\n'
    after, manual = port(before)
    assert after.endswith("    dev = accel.device_type\n")
    assert not manual


def test_an_unknown_choice_stays_whole() -> None:
    before = 'import torch\nmode = "cuda" if torch.cuda.is_available() else "auto"\n'
    kept, manual = port(before)
    assert kept == before
    assert ("PTR304", 2) in manual
