"""Device strings in whole files: which change, which stay, and what the ported file does."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import porter_runtime
from porter.engine import rewrite_source
from porter.model import Level, Options

SHIM_IMPORT = "import porter_runtime as accel\n"
Run = Callable[[str], dict[str, Any]]


def port(before: str) -> tuple[str, list[tuple[str, int, Level]]]:
    """Return the ported text without the shim's import, and (code, line, level) of all findings."""
    result = rewrite_source(before.encode())
    assert not result.failed, result.findings
    text = result.output.decode().replace(SHIM_IMPORT, "", 1)
    return text, [(f.code, f.line, f.level) for f in result.findings]


@pytest.fixture
def run_on_cpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Return a function that ports a text, runs it on the CPU, and returns what it defined."""
    monkeypatch.setenv("PORTER_DEVICE", "cpu")
    porter_runtime._reset()  # type: ignore[attr-defined]  # for tests, not in the stub

    def run(before: str) -> dict[str, Any]:
        names: dict[str, Any] = {}
        exec(compile(rewrite_source(before.encode()).output, "ported", "exec"), names)
        return names

    yield run
    monkeypatch.undo()
    porter_runtime._reset()  # type: ignore[attr-defined]  # for tests, not in the stub


@pytest.mark.parametrize(
    "spelling",
    ["f'cuda:{rank}'", "'cuda:%d' % rank", "'cuda:' + str(rank)", "'cuda:{}'.format(rank)"],
)
def test_four_spellings_and_two_places(spelling: str) -> None:
    before = f"def put(x, rank):\n    d = {spelling}\n    return x.to({spelling})\n"
    after, _ = port(before)
    assert after == (
        "def put(x, rank):\n"
        "    d = str(accel.torch_device(rank))\n"
        "    return x.to(accel.torch_device(rank))\n"
    )


@pytest.mark.parametrize("place", ["print({})", "run({})", "with {}:\n    pass", "x = {{{}: 1}}"])
@pytest.mark.parametrize(
    "choice",
    [
        "{0} if a else {1}",
        "{1} if a else {0}",
        "{1} if a else ({0} if b else None)",
        "{1} or {0}",
        "device or {1} if a else {1}",
        "{1} if a else (b and {1} or 'cpu')",
    ],
)
def test_the_ends_of_a_choice_change_together(place: str, choice: str) -> None:
    before = place.format(choice.format("f'cuda:{i}'", "'cuda'")) + "\n"
    after, _ = port(before)
    ported = choice.format("str(accel.torch_device(i))", "accel.device_type")
    assert after == place.format(ported) + "\n"


@pytest.mark.parametrize("choice", ["'cuda' if a else 'cuda'", "device and 'cuda'", "a or 'cuda'"])
def test_a_choice_that_names_no_device_is_reported(choice: str) -> None:
    before = f"run({choice})\n"
    after, findings = port(before)
    assert after == before
    assert {(code, level) for code, _, level in findings} == {("PTR309", Level.MANUAL)}


def test_what_raised_without_cuda_runs_on_the_cpu(run_on_cpu: Run) -> None:
    names = run_on_cpu(
        "import torch\n"
        "def put(x, rank, device='cuda'):\n"
        "    y = torch.ones(2, device=device) + x.to(f'cuda:{rank}')\n"
        "    g = torch.Generator(device='cuda').manual_seed(1)\n"
        "    return y, torch.randn(2, generator=g, device='cuda:1')\n"
        "y, z = put(torch.ones(2), 3)\n"
        "d = 'cuda:%d' % 5\n"
        "dev = torch.device('cuda', 2)\n"
    )
    expected = torch.randn(2, generator=torch.Generator().manual_seed(1))
    assert names["y"].tolist() == [2.0, 2.0]
    assert torch.equal(names["z"], expected)
    assert names["d"] == "cpu"
    assert names["dev"] == torch.device("cpu")


def test_map_location(run_on_cpu: Run, tmp_path: Any) -> None:
    saved = tmp_path / "m.pt"
    torch.save({"w": torch.arange(3.0)}, saved)
    before = (
        "import torch\n"
        "def load(p, rank):\n"
        "    return [\n"
        "        torch.load(p, map_location={'cuda:0': f'cuda:{rank}'}),\n"
        "        torch.load(p, map_location=lambda s, l: s.cuda(rank)),\n"
        "        torch.load(p, map_location=lambda s, l: s),\n"
        "        torch.load(p, 'cuda'),\n"
        "    ]\n"
    )
    after, findings = port(before)
    assert after == (
        "import torch\n"
        "def load(p, rank):\n"
        "    return [\n"
        "        torch.load(p, map_location={'cuda:0': str(accel.torch_device(rank))}),\n"
        "        torch.load(p, map_location=accel.torch_device(rank)),\n"
        "        torch.load(p, map_location=lambda s, l: s),\n"
        "        torch.load(p, accel.device_type),\n"
        "    ]\n"
    )
    assert {level for _, _, level in findings} == {Level.REWRITTEN}
    for loaded in run_on_cpu(before)["load"](saved, 1):
        assert loaded["w"].tolist() == [0.0, 1.0, 2.0]


def test_default_and_choices_of_an_option(run_on_cpu: Run) -> None:
    before = (
        "import argparse\n"
        "p = argparse.ArgumentParser(prog='train')\n"
        'p.add_argument("--device", default="cuda", choices=["cuda", "cpu"], help="cuda or cpu")\n'
    )
    old: dict[str, Any] = {}
    exec(before, old)
    parser: argparse.ArgumentParser = run_on_cpu(before)["p"]
    assert parser.parse_args([]).device == "cpu"
    assert parser.parse_args(["--device", "cuda"]).device == "cuda"
    assert parser.format_help() == old["p"].format_help()


def test_an_option_for_the_npu_is_accepted_there() -> None:
    before = (
        "import argparse\n"
        "p = argparse.ArgumentParser()\n"
        'p.add_argument("--device", choices=("cpu", "cuda"), default="cuda")\n'
    )
    after, _ = port(before)
    names: dict[str, Any] = {"accel": argparse.Namespace(device_type="npu")}
    exec(after, names)
    assert names["p"].parse_args([]).device == "npu"
    assert names["p"].parse_args(["--device", "npu"]).device == "npu"


def test_a_mixed_line_in_one_pass() -> None:
    before = (
        "import torch\n"
        'z = torch.cat([a.cuda(), torch.zeros(2, device="cuda")]).cuda().to("cuda:1")\n'
    )
    after, _ = port(before)
    assert after == (
        "import torch\n"
        "z = torch.cat([a.to(accel.device_type), torch.zeros(2, device=accel.device_type)])"
        ".to(accel.device_type).to(accel.torch_device(1))\n"
    )
    again = rewrite_source(rewrite_source(before.encode()).output)
    assert again.output == rewrite_source(before.encode()).output
    assert not again.findings


def test_text_stays_without_a_finding() -> None:
    before = (
        '"""Moves x to cuda. Default: "cuda:0"."""\n'
        'MSG = "install cuda>=12 or run with nccl"\n'
        'url = "https://example.org/cuda:0/torch.cuda"\n'
        'print("cuda")\n'
        'logger.info(f"using cuda:{i}")\n'
        'logger.info("cuda:%d", i)\n'
        'raise RuntimeError("needs CUDA")\n'
        'print("on " + "cuda:" + str(i))\n'
        'log = f"cuda:{i}.log"\n'
        "def f(x):\n"
        '    """cuda"""\n'
        '    assert x, "cuda"\n'
    )
    kept, findings = port(before)
    assert kept == before
    # A file's name that starts like a device is asked about, and so is a format.
    assert {(line, level) for _, line, level in findings} <= {
        (6, Level.MANUAL),
        (9, Level.MANUAL),
    }


def test_names_of_the_projects_own_stay_and_are_noted() -> None:
    before = (
        "from enum import Enum\n"
        "class RNGType(Enum):\n"
        '    TORCH = "torch"\n'
        '    CUDA = "cuda"\n'
        'synchronize(["torch", "cuda"])\n'
    )
    kept, findings = port(before)
    assert kept == before
    assert findings == [("PTR309", 4, Level.NOTE), ("PTR309", 5, Level.NOTE)]


def test_keys_stay() -> None:
    before = (
        "KERNELS = {'cuda': fast, 'cpu': slow}\n"
        "fn = KERNELS['cuda']\n"
        "fn = d.get('cuda')\n"
        "state['cuda'] = x\n"
    )
    kept, findings = port(before)
    assert kept == before
    assert findings == [
        ("PTR308", 1, Level.MANUAL),
        ("PTR308", 2, Level.NOTE),
        ("PTR308", 3, Level.NOTE),
        ("PTR308", 4, Level.NOTE),
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import torch as th\nd = th.device('cuda:1')\n", "d = accel.torch_device(1)\n"),
        ("from torch import device as D\nd = D('cuda', i)\n", "d = accel.torch_device(i)\n"),
        (
            "from utils import *\nx = torch.device('cuda')\n",
            "x = torch.device(accel.device_type)\n",
        ),
        ("def f(torch):\n    return torch.device('cuda')\n", "    return torch.device('cuda')\n"),
    ],
)
def test_whose_device_it_is(before: str, after: str) -> None:
    text, _ = port(before)
    assert text.endswith(after)


def test_scripted_code_and_patterns_stay_with_a_reason() -> None:
    before = (
        "import torch\n"
        "@torch.jit.script\n"
        "def f(x: torch.Tensor):\n"
        "    return x + torch.zeros(1, device='cuda')\n"
        "def g(device):\n"
        "    match device:\n"
        "        case 'cuda':\n"
        "            return 1\n"
    )
    kept, findings = port(before)
    assert kept == before
    assert findings == [("PTR302", 4, Level.MANUAL), ("PTR302", 7, Level.MANUAL)]


def test_a_function_for_map_location_that_has_a_name(run_on_cpu: Run, tmp_path: Path) -> None:
    saved = tmp_path / "x.pt"
    torch.save(torch.arange(3), saved)
    before = (
        "import torch\nrank = 0\nmap_location = lambda storage, loc: storage.cuda(rank)\n"
        f"x = torch.load({str(saved)!r}, map_location=map_location)\n"
    )
    text, _ = port(before)
    assert "map_location = accel.torch_device(rank)\n" in text
    assert run_on_cpu(before)["x"].tolist() == [0, 1, 2]


def test_what_one_rule_has_ported_of_a_list_of_devices_is_its_index_to_the_next() -> None:
    before = b"run(['cuda', 'cuda:1'])\n"
    first = rewrite_source(before, options=Options(select=("PTR303",))).output
    assert first.endswith(b"run(['cuda', str(accel.torch_device(1))])\n")
    assert rewrite_source(first).output == rewrite_source(before).output


def test_a_choice_that_is_left_leaves_no_other_that_is_written_alike() -> None:
    choice = "(True, 'cuda') if torch.cuda.is_available() else (False, 'cpu')"
    before = f"import torch\nkind = f({choice}, device={choice})\nf({choice})\n"
    text, _ = port(before)
    ported = "(True, accel.device_type) if accel.is_available() else (False, 'cpu')"
    assert text.endswith(f"kind = f({choice}, device={ported})\nf({choice})\n")
    assert port(text)[0] == text


def test_beside_a_device_a_string_may_be_anything() -> None:
    text, found = port("import torch\nmain([torch.device('cuda:1'), 'cuda'])\n")
    assert text.endswith("main([accel.torch_device(1), 'cuda'])\n")
    assert ("PTR309", 2, Level.MANUAL) in found
    assert port(f"{SHIM_IMPORT}{text}")[1] == [("PTR309", 3, Level.MANUAL)]


def test_an_operation_on_device_strings_is_no_index() -> None:
    before = 'd = "cuda:" + str(["cpu", "cuda"] % n)\n'
    text, found = port(before)
    assert text == before
    assert {code for code, _, _ in found} == {"PTR309"}
