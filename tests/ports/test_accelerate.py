"""Accelerate 0.20.3, ported: on the CPU it trains to the very losses of the original."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).with_name("train_bert.py")
PORTER = [str(ROOT), str(ROOT / "rules"), str(ROOT / "runtime")]
LAUNCHERS = {
    "python": [],
    "accelerate launch --cpu": ["-m", "accelerate.commands.accelerate_cli", "launch", "--cpu"],
}


def run(command: list[str], path: list[str]) -> str:
    """Run Python with a module search path of its own and return its stdout."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path),
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, *command],
        env=environment,
        cwd=SCRIPT.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def trees(project, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:  # type: ignore[no-untyped-def]
    """Return the search paths of the original, the port, and the port with its own shim."""
    source = project("accelerate==0.20.3")
    paths: dict[str, list[str]] = {}
    for name in ("original", "ported", "vendored"):
        folder = tmp_path_factory.mktemp(name)
        shutil.copytree(source, folder, dirs_exist_ok=True)
        options = ["--vendor", str(folder / "accelerate")] if name == "vendored" else []
        if name != "original":
            run(["-m", "porter", "rewrite", str(folder), *options], PORTER)
        paths[name] = [str(folder)] + ([str(ROOT / "runtime")] if name == "ported" else [])
    return paths


def train(path: list[str], launcher: str) -> dict[str, object]:
    """Train and return what the script says."""
    result = json.loads(run([*LAUNCHERS[launcher], str(SCRIPT)], path).splitlines()[-1])
    assert isinstance(result, dict)
    return result


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_losses_are_equal_to_the_last_digit(launcher: str, trees: dict[str, list[str]]) -> None:
    reference = train(trees["original"], launcher)
    losses = reference["losses"]
    assert isinstance(losses, list)
    assert len(losses) == 24
    assert sum(losses[-6:]) < 0.8 * sum(losses[:6]), "the original does not learn"
    assert train(trees["ported"], launcher) == reference
    assert train(trees["vendored"], launcher) == reference


def test_the_port_is_no_empty_one(trees: dict[str, list[str]]) -> None:
    for name in ("ported", "vendored"):
        folder = Path(trees[name][0]) / "accelerate"
        assert "accel.set_device(" in (folder / "state.py").read_text()
        changed = [p for p in folder.rglob("*.py") if "accel." in p.read_text()]
        assert len(changed) > 10
    assert (
        "from accelerate import _accel as accel"
        in (Path(trees["vendored"][0]) / "accelerate" / "state.py").read_text()
    )
