"""`porter verify` proves the port of Accelerate, and disproves Accelerate unported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.ports.accelerate.runs import ROOT, SHORT, STEPS, TRAIN, Tree
from tests.ports.conftest import Figure

pytestmark = pytest.mark.slow


def verify(tree: Tree, *arguments: str, scratch: Path) -> tuple[int, dict[str, Any]]:
    """Returns the exit code and the outcome of `porter verify` on a tree."""
    file = scratch / "outcome.json"
    path = [tree.folder, *(ROOT / part for part in (".", "rules", "runtime"))]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "porter",
            "verify",
            str(tree.folder),
            "--json",
            str(file),
            *arguments,
        ],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, path)),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OMP_NUM_THREADS": "1",
            "HF_HUB_OFFLINE": "1",
            "HF_HOME": str(scratch),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert file.exists(), done.stdout + done.stderr
    outcome = json.loads(file.read_text())
    assert isinstance(outcome, dict)
    return done.returncode, outcome


def placed(run: dict[str, Any]) -> set[str]:
    """Returns the devices that a run's parameters and optimizer's state were on."""
    return {
        device
        for process in run["processes"]
        for placement in process["placements"]
        for kind in ("elements_by_device", "state_by_device")
        for device in placement[kind]
    }


@pytest.mark.parametrize("precision", ["no", "fp16", "bf16"])
def test_it_agrees_with_the_original_on_cuda_bit_for_bit(
    precision: str, original: Tree, port: Tree, tmp_path: Path, figure: Figure
) -> None:
    command = (sys.executable, TRAIN, *SHORT, f"--mixed_precision={precision}")
    backends = ("--backend=cuda-emulated", "--backend=npu-emulated")
    reference = ("--reference", str(original.folder))
    code, outcome = verify(port, *reference, *backends, "--", *command, scratch=tmp_path)
    assert (code, outcome["verdict"]) == (0, "agree"), outcome["findings"]
    runs = {run["name"]: run for run in outcome["runs"]}
    assert placed(runs["cuda-emulated (reference)"]) == placed(runs["cuda-emulated"]) == {"cuda:0"}
    assert placed(runs["npu-emulated"]) == {"npu:0"}
    assert runs["npu-emulated"]["trapped"] == []
    for run in runs.values():
        (placement,) = run["processes"][0]["placements"]
        assert placement["changed"] == placement["parameters"] > 0
    on_cuda, on_npu = outcome["comparisons"]
    assert (on_cuda["mode"], on_cuda["steps"], on_cuda["max_difference"]) == ("bits", STEPS, 0.0)
    assert on_npu["steps"] == STEPS
    figure(
        f"porter verify, the port beside the original on cuda-emulated, {precision}: largest "
        f"difference {on_cuda['max_difference']:.1e} on cuda-emulated, "
        f"{on_npu['max_difference']:.1e} on npu-emulated"
    )


def test_two_processes_agree(port: Tree, tmp_path: Path) -> None:
    launcher = str(port.folder / "bin" / "accelerate")
    options = ("--multi_gpu", "--num_machines=1", "--num_processes=2", "--main_process_port={port}")
    command = (sys.executable, launcher, "launch", *options, TRAIN, *SHORT)
    backends = ("--backend=cpu", "--backend=npu-emulated", "--devices=2")
    code, outcome = verify(port, *backends, "--", *command, scratch=tmp_path)
    assert (code, outcome["verdict"]) == (0, "agree"), outcome["findings"]
    npu = next(run for run in outcome["runs"] if run["backend"] == "npu-emulated")
    ranks = [process for process in npu["processes"] if process["placements"]]
    assert {process["process_group"] for process in ranks} == {"hccl"}
    assert {process["world_size"] for process in ranks} == {2}
    assert placed(npu) == {"npu:0", "npu:1"}
    assert npu["trapped"] == []


def test_unported_it_trains_on_the_cpu_and_is_found_out(original: Tree, tmp_path: Path) -> None:
    command = (sys.executable, TRAIN, *SHORT)
    code, outcome = verify(original, "--backend=npu-emulated", "--", *command, scratch=tmp_path)
    assert (code, outcome["verdict"]) == (1, "mismatch")
    said = " ".join(finding["message"] for finding in outcome["findings"])
    assert "it trained on cpu, silently" in said
    assert "torch.cuda.manual_seed_all" in said
    npu = next(run for run in outcome["runs"] if run["backend"] == "npu-emulated")
    assert placed(npu) == {"cpu"}
    assert {record["kind"] for record in npu["trapped"]} >= {"cuda", "asked"}
