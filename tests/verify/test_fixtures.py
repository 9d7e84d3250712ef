"""The port of each fixture agrees: on the NPU with the CPU, on CUDA with the original."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.cases import CASES, Case

QUICK = {"dqn"}
FLOAT32 = {"char_gpt": "--dtype=float32", "hf_trainer": "--precision=fp32"}
"""Options that have a fixture compute in float32; those that do so anyway have none."""


def cases() -> list[object]:
    return [
        pytest.param(case, id=case.name, marks=[] if case.name in QUICK else [pytest.mark.slow])
        for case in CASES
    ]


def verify(case: Case, folder: Path, *options: str) -> tuple[int, dict[str, Any]]:
    """Verifies a fixture's port, and returns exit code and document."""
    if case.missing:
        pytest.skip(f"needs {', '.join(case.missing)}: pip install 'porter-codemod[fixtures]'")
    prepared = folder / "prepared"
    if case.prepare:
        command = [sys.executable, *(part.format(out=prepared) for part in case.prepare)]
        subprocess.run(command, cwd=case.folder / "original", check=True)
    tests = Path(__file__).resolve().parents[1] / "fixtures"
    words = [
        word.replace("{prepared}", str(prepared)).replace("{tests}", str(tests))
        for word in case.arguments
    ]
    if case.name in FLOAT32 and "--reference" in " ".join(options):
        words.append(FLOAT32[case.name])
    done = subprocess.run(
        [
            sys.executable, "-m", "porter", "verify", str(case.folder / "expected"), *options,
            "--json=-", "--timeout=300", "--", sys.executable, *words,
        ],
        env=os.environ | case.environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def assert_trained(document: dict[str, Any], case: Case, device: str) -> None:
    for run in document["runs"]:
        assert run["status"] == "trained", run["tail"]
        assert run["trapped"] == []
        for process in run["processes"]:
            assert process["faults"] == []
            for placement in process["placements"]:
                assert placement["changed"] == placement["with_gradient"] == placement["parameters"]
    (process,) = document["runs"][1]["processes"]
    assert process["device"] == device
    assert document["comparisons"][0]["steps"] >= case.steps // 2


@pytest.mark.parametrize("case", cases())
def test_the_port_on_the_emulated_npu_agrees_with_the_cpu(case: Case, tmp_path: Path) -> None:
    code, document = verify(case, tmp_path, "--backend=cpu", "--backend=npu-emulated")
    assert code == 0, document["findings"]
    assert_trained(document, case, "npu:0")


@pytest.mark.parametrize("case", cases())
def test_the_port_on_emulated_cuda_equals_the_original(case: Case, tmp_path: Path) -> None:
    original = f"--reference={case.folder / 'original'}"
    code, document = verify(case, tmp_path, "--backend=cuda-emulated", original)
    assert code == 0, document["findings"]
    assert_trained(document, case, "cuda:0")
    (comparison,) = document["comparisons"]
    assert (comparison["mode"], comparison["max_difference"]) == ("bits", 0.0)
