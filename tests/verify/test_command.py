"""`porter verify` on the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.verify.programs import PORT, broken

ORIGINAL = broken(
    PORT,
    ("import porter_runtime as accel\n\n", ""),
    ("torch.device(accel.device_type)", "torch.device('cuda')"),
)
TRAIN = ["--", sys.executable, "train.py"]


def porter(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "porter", "verify", *arguments],
        cwd=cwd, env=os.environ, capture_output=True, text=True, timeout=240,
    )  # fmt: skip


@pytest.fixture
def port(tmp_path: Path) -> Path:
    folder = tmp_path / "port"
    folder.mkdir()
    (folder / "train.py").write_text(PORT)
    return folder


def test_a_port_that_agrees(port: Path, tmp_path: Path) -> None:
    done = porter(str(port), "--backend=npu-emulated", "--json=out.json", *TRAIN, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    table = done.stdout.splitlines()
    assert table[1].split()[:3] == ["cpu", "trained", "12"]
    assert table[2].split()[:3] == ["npu-emulated", "trained", "12"]
    assert table[2].split()[-6:] == ["on", "npu:0", "4/4", "12", "losses", "equal"]
    assert table[3] == "agree (npu-emulated: no real device)"
    document = json.loads((tmp_path / "out.json").read_text())
    assert (document["verdict"], document["exit_code"]) == ("agree", 0)
    assert document["command"] == TRAIN[1:]
    assert [run["emulated"] for run in document["runs"]] == [False, True]


def test_the_original_on_emulated_cuda(port: Path, tmp_path: Path) -> None:
    (tmp_path / "original").mkdir()
    (tmp_path / "original" / "train.py").write_text(ORIGINAL)
    done = porter(
        str(port), "--reference=original", "--backend=cuda-emulated", "--json=-", *TRAIN,
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [run["name"] for run in document["runs"]] == [
        "cuda-emulated (reference)",
        "cuda-emulated",
    ]
    assert [Path(run["folder"]).name for run in document["runs"]] == ["original", "port"]
    (comparison,) = document["comparisons"]
    assert (comparison["mode"], comparison["max_difference"]) == ("bits", 0.0)
    assert [run["trapped"] for run in document["runs"]] == [[], []]


@pytest.mark.slow
def test_words_and_paths_of_the_port_become_the_references(
    port: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that names the port's own files would else run it again as the reference."""
    original = tmp_path / "original"
    original.mkdir()
    for folder, factor in ((original, 1.0), (port, 2.0)):
        (folder / "factor.py").write_text(f"FACTOR = {factor}\n")
    program = broken(PORT, ("targets)", "targets * factor.FACTOR)")).replace("sys", "factor", 1)
    for folder in (original, port):
        (folder / "train.py").write_text(program)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(port), os.environ["PYTHONPATH"]]))
    done = porter(
        str(port), "--reference=original", "--reference-backend=cpu", "--backend=cpu", "--json=-",
        "--", sys.executable, "-c", "import runpy, sys; runpy.run_path(sys.argv[1])",
        str(port / "train.py"), cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    kinds = [f["kind"] for f in document["findings"] if f["level"] == "error"]
    assert kinds == ["loss"]


@pytest.mark.slow
def test_words_of_the_runs_own(port: Path, tmp_path: Path) -> None:
    (port / "train.py").write_text(PORT + "print(sys.argv)\nopen(sys.argv[1] + '/kept', 'w')\n")
    done = porter(
        str(port), "--backend=cpu", *TRAIN, "{out}", "--url=tcp://localhost:{port}", "{x}",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "nothing was compared: the CPU ran alone" in done.stdout
    assert sorted(path.name for path in port.iterdir()) == ["train.py"]


@pytest.mark.slow
def test_a_single_file(port: Path, tmp_path: Path) -> None:
    (port / "other.py").write_text("import torch\ntorch.cuda.empty_cache()\n")
    program = broken(PORT, ("for step", "import other\ntorch.cuda.manual_seed(1)\nfor step"))
    (port / "train.py").write_text(program)
    done = porter(str(port / "train.py"), "--backend=cpu", "--json=-", *TRAIN, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    (use,) = json.loads(done.stdout)["runs"][0]["trapped"]
    assert (use["path"], use["name"]) == ("train.py", "torch.cuda.manual_seed")


def test_without_an_accelerator_the_cpu_is_not_compared_with_itself(
    port: Path, tmp_path: Path
) -> None:
    done = porter(str(port), *TRAIN, cwd=tmp_path)
    if "there is no accelerator here" not in done.stderr:
        pytest.skip("there is an accelerator here")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--backend npu-emulated tries the port without one" in done.stderr


@pytest.mark.slow
def test_a_backend_that_is_not_here(port: Path, tmp_path: Path) -> None:
    done = porter(str(port), "--backend=npu", "--steps=1", *TRAIN, cwd=tmp_path)
    if "trained" in done.stdout.splitlines()[-3]:
        pytest.skip("there is an NPU here")
    assert done.returncode == 2
    assert "error npu: torch sees no npu device on this machine" in done.stdout
    assert "could not run to its end: nothing is proven" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no command: porter verify PATH -- python train.py"),
        (["--json=none/out", *TRAIN], "there is no folder none"),
        (["--backend=tpu", *TRAIN], "'tpu' is not one of"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_at_once(
    arguments: list[str], message: str, port: Path, tmp_path: Path
) -> None:
    done = porter(str(port), *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


CONFIGURED = """\
[tool.porter.verify]
command = ["{python}", "train.py"]
backend = ["cpu"]
steps = 3
"""


def test_options_from_pyproject(port: Path, tmp_path: Path) -> None:
    (port / "pyproject.toml").write_text(CONFIGURED.format(python=sys.executable))
    done = porter(str(port), "--json=-", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["step_limit"] == 3
    (run,) = document["runs"]
    assert run["status"] == "stopped"
    assert len(run["processes"][0]["curves"][0]["loss"]) == 3
    done = porter(str(port), "--json=-", "--steps=2", cwd=tmp_path)
    assert json.loads(done.stdout)["step_limit"] == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("setps = 3", "tool.porter.verify.setps is unknown; did you mean steps?"),
        ("steps = 0", "tool.porter.verify.steps has to be a whole number of at least 1, not 0"),
        ("command = 'python train.py'", "tool.porter.verify.command has to be a list of strings"),
        ("backend = ['gpu']", "no backend is called 'gpu'; known are cpu, cuda, npu"),
        ("reference = 'gone'", "reference: there is no folder"),
    ],
)
def test_wrong_settings_are_refused(line: str, message: str, port: Path, tmp_path: Path) -> None:
    (port / "pyproject.toml").write_text(f"[tool.porter.verify]\n{line}\n")
    done = porter(str(port), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


@pytest.mark.slow
def test_the_report_is_written(port: Path, tmp_path: Path) -> None:
    pytest.importorskip("porter.pages.verify_page")
    done = porter(
        str(port), "--backend=npu-emulated", "--steps=3", "--report=page.html", *TRAIN, cwd=tmp_path
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "npu-emulated" in page


def test_help_shows_examples(tmp_path: Path) -> None:
    done = porter("--help", cwd=tmp_path)
    assert "porter verify . -- python train.py --epochs 1" in done.stdout
    assert "Exit codes: 0 all agree" in done.stdout
