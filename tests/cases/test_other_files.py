"""Cases of files that aren't modules, and of runs: by the command line, as a user meets them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]

CONFIGURATION = (
    b"# device to use\r\n"
    b"device: cuda:0        # or cpu\r\n"
    b"loader: {pin_memory: true}\r\n"
    b"name: cuda-baseline\r\n"
)
CELLS = [
    "!nvidia-smi\n%env CUDA_VISIBLE_DEVICES=0",
    "%matplotlib inline\nimport torch\nx = torch.ones(2)",
    "%%time\nx = x.cuda()  # moved\nx.cuda?",
    "print('cuda'); y = x.is_cuda",
]
PORTED = [
    CELLS[0],
    "%matplotlib inline\nimport torch\nimport porter_runtime as accel\nx = torch.ones(2)",
    "%%time\nx = x.to(accel.device_type)  # moved\nx.cuda?",
    "print('cuda'); y = accel.is_accelerator(x)",
]


def porter(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs porter in a folder."""
    path = os.pathsep.join(str(ROOT / part) for part in ("", "rules", "runtime"))
    return subprocess.run(
        [sys.executable, "-m", "porter", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def found(report: str) -> list[tuple[int, str]]:
    files = json.loads(report)["files"]
    return [(f["line"], f["level"]) for file in files for f in file["findings"]]


def test_d38_a_device_in_a_configuration_is_reported_and_left(tmp_path: Path) -> None:
    file = tmp_path / "train.yaml"
    file.write_bytes(CONFIGURATION)
    checked = porter(tmp_path, "check", "--all", "--format=json", ".")
    assert (checked.returncode, found(checked.stdout)) == (1, [(2, "manual")])
    assert porter(tmp_path, "rewrite", ".").returncode == 0
    assert file.read_bytes() == CONFIGURATION


def test_d38_a_configuration_keeps_its_bytes_where_it_is_ported(tmp_path: Path) -> None:
    """Only the value may change: comments, order, quotes and line ends stay."""
    file = tmp_path / "train.yaml"
    file.write_bytes(CONFIGURATION.replace(b"name:", b"backend: 'nccl'  # fast\r\nname:"))
    before = file.read_bytes().splitlines(keepends=True)
    assert porter(tmp_path, "rewrite", "--configs", ".").returncode == 0
    after = file.read_bytes().splitlines(keepends=True)
    assert [line for line in before if b":0" not in line and b"nccl" not in line] == [
        line for number, line in enumerate(after) if number not in (1, 3)
    ]


def notebook(cells: list[str]) -> dict[str, Any]:
    outputs = [{"name": "stdout", "output_type": "stream", "text": ["device='cuda:0'\n"]}]
    code = {"cell_type": "code", "execution_count": 1, "metadata": {"a": 1}, "outputs": outputs}
    return {
        "cells": [{**code, "id": f"c{n}", "source": cell} for n, cell in enumerate(cells)],
        "metadata": {"accelerator": "GPU", "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


@pytest.mark.parametrize(("indent", "ending"), [(1, "\n"), (4, "")])
def test_t61_only_the_code_of_a_notebook_changes(indent: int, ending: str, tmp_path: Path) -> None:
    file = tmp_path / "train.ipynb"
    file.write_text(json.dumps(notebook(CELLS), indent=indent) + ending)
    assert porter(tmp_path, "rewrite", ".").returncode == 0
    assert file.read_text() == json.dumps(notebook(PORTED), indent=indent) + ending


def test_t61_a_cell_that_is_no_python_is_left_and_reported(tmp_path: Path) -> None:
    file = tmp_path / "train.ipynb"
    broken = "if x.cuda( = 1"
    file.write_text(json.dumps(notebook(["import torch\nx.cuda()", broken])))
    done = porter(tmp_path, "rewrite", ".", "--format=json")
    assert [cell["source"] for cell in json.loads(file.read_text())["cells"]] == [
        "import torch\nimport porter_runtime as accel\nx.to(accel.device_type)",
        broken,
    ]
    assert [level for _, level in found(done.stdout)] == ["rewritten", "manual"]


@pytest.mark.parametrize("backend", ["npu", "cuda"])
def test_d56_the_cpu_is_never_compared_with_itself(backend: str, tmp_path: Path) -> None:
    if getattr(torch, backend, None) is not None and getattr(torch, backend).is_available():
        pytest.skip(f"this machine has a {backend}")
    (tmp_path / "train.py").write_text("print('trained')\n")
    asked = porter(tmp_path, "verify", "--backend", backend, ".", "--", sys.executable, "train.py")
    assert asked.returncode == 2
    assert "passed" not in asked.stdout + asked.stderr
    assert f"no {backend} device" in asked.stdout + asked.stderr
