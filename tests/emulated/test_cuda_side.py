"""On CUDA nothing changes: original and port do the same, call by call, on an emulated CUDA."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from porter.emulated import emulated_env
from tests.conftest import Project
from tests.fixtures.cases import CASES, ROOT, Case
from tests.fixtures.trainings import distributed_commands

FIXTURES = ROOT / "tests" / "fixtures"
TRAIN_BERT = ROOT / "tests" / "ports" / "accelerate" / "programs" / "train_bert.py"
RUNTIME = ROOT / "runtime"


def run(
    arguments: Sequence[str],
    folder: Path,
    path: Sequence[Path] = (),
    devices: int = 1,
    **variables: str,
) -> tuple[str, list[str]]:
    """Runs Python in a folder; returns its output, and what it asked of the emulated devices."""
    trace = folder.with_name(f"{folder.name}.calls")
    env = emulated_env("cuda", devices=devices, trace=trace)
    variables = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", **variables}
    child = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={
            **env,
            "PYTHONPATH": os.pathsep.join([*map(str, path), env["PYTHONPATH"]]),
            **variables,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
        check=False,
    )
    assert child.returncode == 0, child.stdout
    return child.stdout, trace.read_text().splitlines()


def assert_equal_calls(original: list[str], port: list[str]) -> None:
    """Asserts that two runs asked the same of the device; tells where they part, if they do."""
    pairs = zip(original, port, strict=False)
    shorter = min(len(original), len(port))
    same = next((i for i, (a, b) in enumerate(pairs) if a != b), shorter)
    assert original == port, (
        f"after {same} equal calls, the last of which are {original[max(same - 5, 0) : same]}, "
        f"the original does {original[same : same + 3]} and the port {port[same : same + 3]}"
    )


def prepare(case: Case, folder: Path) -> None:
    """Makes what a fixture needs before it runs, in a folder; skips the test without packages."""
    if case.missing:
        pytest.skip(f"needs {', '.join(case.missing)}: pip install 'porter-codemod[fixtures]'")
    if case.prepare:
        command = [part.format(out=folder / "prepared") for part in case.prepare]
        subprocess.run([sys.executable, *command], cwd=case.folder / "original", check=True)


def train(
    case: Case, source: str, folder: Path, arguments: Sequence[str], devices: int = 1
) -> tuple[list[float], list[str]]:
    """Trains the original or the port ("expected") of a fixture; returns losses and calls."""
    shutil.copytree(case.folder / source, folder)
    places = {"out": folder, "prepared": folder.with_name("prepared"), "tests": FIXTURES}
    output, calls = run(
        [part.format(**places) for part in arguments],
        folder,
        [] if source == "original" else [RUNTIME],
        devices,
        **case.environment,
    )
    lines = case.lines(output)
    assert {device for _, device in lines} == {"cuda"}
    assert len(calls) > 10 * len(lines) > 0
    return [loss for loss, _ in lines], calls


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_the_port_of_a_fixture_does_what_the_original_does(case: Case, tmp_path: Path) -> None:
    prepare(case, tmp_path)
    losses, calls = train(case, "original", tmp_path / "original", case.arguments)
    port_losses, port_calls = train(case, "expected", tmp_path / "port", case.arguments)
    assert len(losses) == case.steps
    assert port_losses == losses
    assert_equal_calls(calls, port_calls)


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.name) for case in CASES if case.distributed]
)
def test_two_processes_of_a_port_train_as_the_originals(case: Case, tmp_path: Path) -> None:
    prepare(case, tmp_path)
    losses = []
    for name, source in [("original", "original"), ("port", "expected")]:
        (arguments,) = distributed_commands(case, "cuda")
        losses.append(train(case, source, tmp_path / name, arguments, devices=2)[0])
    # Two processes print in any order.
    assert sorted(losses[0]) == sorted(losses[1])


@pytest.fixture(scope="module")
def accelerates(project: Project, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Returns the folders of Accelerate 0.20.3 and of its port."""
    folders = [tmp_path_factory.mktemp(name) for name in ("original", "port")]
    for folder in folders:
        shutil.copytree(project("accelerate==0.20.3"), folder, dirs_exist_ok=True)
    path = os.pathsep.join(str(each) for each in (ROOT, ROOT / "rules", RUNTIME))
    subprocess.run(
        [sys.executable, "-m", "porter", "rewrite", str(folders[1])],
        env={**os.environ, "PYTHONPATH": path},
        check=True,
        capture_output=True,
    )
    return folders


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["no", "fp16", "bf16"])
def test_the_port_of_accelerate_does_what_the_original_does(
    precision: str, accelerates: list[Path], tmp_path: Path
) -> None:
    pytest.importorskip("transformers")
    results = []
    for name, path in zip(("original", "port"), accelerates, strict=True):
        (tmp_path / name).mkdir()
        output, calls = run(
            [str(TRAIN_BERT)],
            tmp_path / name,
            [path, RUNTIME],
            ACCELERATE_MIXED_PRECISION=precision,
        )
        results.append((json.loads(output.splitlines()[-1]), calls))
    (original, calls), (port, port_calls) = results
    assert original["device"] == "cuda:0"
    assert len(original["losses"]) == 24
    assert sum(original["losses"][-6:]) < sum(original["losses"][:6])
    assert port == original
    assert_equal_calls(calls, port_calls)
