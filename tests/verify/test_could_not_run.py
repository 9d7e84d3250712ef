"""What could not be run is never passed: exit code 2, and the reason."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from porter.verify import backends
from porter.verify.outcome import Run
from tests.verify.conftest import alive_in, judged, train
from tests.verify.programs import PORT, broken


def test_a_backend_that_is_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(backends.Unavailable) as caught:
        backends.environment("npu", 1, backends.Machine(why={"npu": "import torch_npu: no module"}))
    assert str(caught.value) == (
        "torch sees no npu device on this machine: import torch_npu: no module. `porter doctor` "
        "looks for the reason; --backend npu-emulated tries the port without one"
    )


STATUSES = {
    "crashed": (
        [("for step", "raise ValueError('no such file')\nfor step")],
        "it ended with exit code 1: ValueError: no such file (train.py:14)",
    ),
    "no-steps": ([("range(12)", "range(0)")], "it made no step of a torch.optim optimizer"),
    "out-of-memory": (
        [("    loss.backward()", "    raise torch.OutOfMemoryError('NPU out of memory')")],
        "it ran out of memory",
    ),
}


@pytest.mark.parametrize("status", STATUSES)
def test_a_run_that_proves_nothing(status: str, on_cpu: Run, tmp_path: Path) -> None:
    edits, reason = STATUSES[status]
    run = train(tmp_path / "port", broken(PORT, *edits))
    assert run.status == status
    assert reason in run.reason
    outcome = judged(on_cpu, run)
    assert (outcome.verdict, outcome.exit_code) == ("could-not-run", 2)
    assert [f.kind for f in outcome.findings if f.level == "error"] == [status]


@pytest.mark.slow
def test_a_crash_shows_the_last_lines(tmp_path: Path) -> None:
    run = train(tmp_path / "port", "import torch\nprint('ready')\nraise ValueError('corpus.txt')\n")
    assert run.exit_code == 1
    assert run.tail[0] == "ready"
    assert run.tail[-1] == "ValueError: corpus.txt"


@pytest.mark.slow
def test_the_emulated_device_runs_out_of_memory(tmp_path: Path) -> None:
    program = broken(PORT, ("for step", "accel.set_per_process_memory_fraction(1e-7)\nfor step"))
    run = train(tmp_path / "port", program, "npu-emulated")
    assert run.status == "out-of-memory", run.tail


@pytest.mark.parametrize("command", [["no-such-launcher", "x"], ["./missing.sh"]])
def test_a_command_that_is_not_there(command: list[str], tmp_path: Path) -> None:
    run = train(tmp_path / "port", PORT, command=command)
    assert run.status == "not-found"
    assert run.reason == f"{command[0]} can't be started: No such file or directory"


def test_a_command_that_a_script_does_not_find(tmp_path: Path) -> None:
    run = train(tmp_path / "port", PORT, command=["sh", "-c", "no-such-launcher train.py"])
    assert run.status == "not-found"
    assert "no-such-launcher" in run.tail[-1]


@pytest.mark.slow
def test_python_that_ignores_the_environment(tmp_path: Path) -> None:
    run = train(tmp_path / "port", "import torch\n", command=[sys.executable, "-I", "train.py"])
    assert run.status == "no-steps"
    assert "run Python without -E, -I and -S" in run.reason


@pytest.mark.slow
def test_another_copy_of_the_code(tmp_path: Path) -> None:
    """The command trains, but with code from elsewhere: then nothing is said of this one."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "main.py").write_text(PORT)
    run = train(tmp_path / "port", "", command=[sys.executable, str(elsewhere / "main.py")])
    assert run.status == "other-code"
    assert f"what trained is no code under {tmp_path / 'port'}" in run.reason


HANGS = broken(
    PORT,
    (
        "    optimizer.step()\n",
        "    optimizer.step()\n    time.sleep(0.1)\n    if step == 5:\n"
        "        subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
        "        print('hanging', flush=True)\n"
        "        time.sleep(600)\n",
    ),
    ("import sys\n", "import subprocess\nimport sys\nimport time\n"),
)


@pytest.mark.slow
def test_a_timeout_ends_all_processes_and_reports_what_was_seen(
    on_cpu: Run, tmp_path: Path
) -> None:
    run = train(tmp_path / "port", HANGS, timeout=25)
    assert run.status == "timeout"
    assert run.reason == "it was still running after 25 s, and was ended"
    assert alive_in(tmp_path) == []
    (process,) = run.processes
    assert process.steps == 6
    assert process.curves[0].loss == on_cpu.processes[0].curves[0].loss[:6]
    assert run.tail[-1] == "hanging"
    outcome = judged(on_cpu, run)
    assert outcome.exit_code == 2
    (comparison,) = outcome.comparisons
    assert (comparison.steps, comparison.max_difference) == (6, 0.0)


@pytest.mark.slow
def test_what_a_command_leaves_behind_is_ended(tmp_path: Path) -> None:
    program = (
        PORT + "import subprocess\nsubprocess.Popen(['sleep', '600'], start_new_session=True)\n"
    )
    assert train(tmp_path / "port", program).status == "trained"
    assert alive_in(tmp_path) == []


@pytest.mark.parametrize("signal_name", ["SIGINT", pytest.param("SIGTERM", marks=pytest.mark.slow)])
def test_ctrl_c_ends_all_processes_and_writes_what_was_seen(
    signal_name: str, tmp_path: Path
) -> None:
    import signal

    folder = tmp_path / "port"
    folder.mkdir()
    (folder / "train.py").write_text(HANGS)
    document = tmp_path / "verify.json"
    child = subprocess.Popen(
        [sys.executable, "-m", "porter", "verify", str(folder), "--backend", "cpu", "--json",
         str(document), "--", sys.executable, "train.py"],
        env=os.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while len(alive_in(folder)) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    child.send_signal(getattr(signal, signal_name))
    output, errors = child.communicate(timeout=30)
    assert child.returncode == 130, errors
    assert alive_in(folder) == []
    run = json.loads(document.read_text())["runs"][0]
    assert run["status"] == "interrupted"
    assert len(run["processes"][0]["curves"][0]["loss"]) == 6
    assert "could not run to its end" in output
