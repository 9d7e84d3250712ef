"""Runs programs watched, as `porter verify` does, without its command line."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from porter.verify.backends import environment
from porter.verify.outcome import Finding, Outcome, Run
from porter.verify.runner import Plan, execute
from porter.verify.verify import judge
from tests.verify.programs import PORT

ROOT = Path(__file__).resolve().parents[2]

Train = Callable[..., Run]


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make porter and the shim importable in the children, which use one thread."""
    parts = [str(ROOT / part) for part in ("runtime", "rules", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(parts))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def train(
    folder: Path,
    program: str,
    backend: str = "cpu",
    *,
    command: Sequence[str] = (sys.executable, "train.py"),
    devices: int = 1,
    steps: int | None = None,
    timeout: float | None = 120,
) -> Run:
    """Run a program as train.py in a folder, watched, and return what was seen."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "train.py").write_text(program)
    run = Run(backend, "port", str(folder), backend.endswith("-emulated"))
    plan = Plan(
        command=command,
        folder=folder,
        root=folder,
        environment=environment(backend, devices, None),
        trap=run.device_type != "cuda",
        steps=steps,
        timeout=timeout,
    )
    execute(plan, run, lambda run, seen, elapsed: None)
    return run


def alive_in(folder: Path) -> list[str]:
    """Return the processes whose working directory is a folder, or below it."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cwd"):
        with contextlib.suppress(OSError):
            if path.resolve().is_relative_to(folder):
                found.append(path.parent.name)
    return found


def judged(*runs: Run) -> Outcome:
    """Return the outcome of runs, of which the first is the reference."""
    outcome = Outcome(["python"], "", "0", "", runs=list(runs))
    judge(outcome, None)
    return outcome


def findings(outcome: Outcome, kind: str) -> list[Finding]:
    """Return the findings of a kind."""
    return [finding for finding in outcome.findings if finding.kind == kind]


@pytest.fixture(scope="session")
def on_cpu(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The port on the CPU."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT / "runtime"))
        patch.setenv("OMP_NUM_THREADS", "1")
        run = train(tmp_path_factory.mktemp("port"), PORT)
    assert run.status == "trained", run.tail
    return run
