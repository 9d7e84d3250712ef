"""`porter doctor` as a program: with the real torch, and packages that stand for torch_npu."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.doctor.conftest import Program, sample

ROOT = Path(__file__).resolve().parents[2]
TORCH = "2.13.0"


@dataclass(frozen=True)
class Doctor:
    """A run with --json: its exit code, its document, and the entries by section and name."""

    code: int
    document: dict[str, Any]

    def entry(self, section: str, name: str) -> tuple[str, str, str]:
        """Return an entry's state, text and mend."""
        (found,) = (s for s in self.document["sections"] if s["title"].startswith(section))
        (entry,) = (e for e in found["entries"] if e["name"] == name)
        return entry["state"], entry["text"], entry["mend"]

    def problems(self) -> list[str]:
        entries = [e for s in self.document["sections"] for e in s["entries"]]
        return [e["name"] for e in entries if e["state"] == "problem"]


Run = Callable[..., Doctor]


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """Return an empty folder that Python searches for packages."""
    folder = tmp_path / "packages"
    folder.mkdir()
    return folder


@pytest.fixture
def environment(packages: Path, tmp_path: Path) -> dict[str, str]:
    """Return the environment of a shell that knows nothing of accelerators."""
    searched = [packages, *(ROOT / part for part in (".", "rules", "runtime"))]
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(map(str, searched)),
    }


@pytest.fixture
def doctor(environment: dict[str, str], tmp_path: Path) -> Run:
    """Return a function that runs `porter doctor --json`; variables by keyword."""

    def run(*arguments: str, **variables: str) -> Doctor:
        done = subprocess.run(
            [sys.executable, "-m", "porter", "doctor", "--json", *arguments],
            cwd=tmp_path,
            env={**environment, "PATH": os.environ["PATH"], **variables},
            capture_output=True,
            check=False,
        )
        assert done.stderr == b""
        return Doctor(done.returncode, json.loads(done.stdout))

    return run


def torch_npu(packages: Path, version: str, code: str) -> None:
    """Install a package that torch imports by itself, as it does torch_npu."""
    (packages / "torch_npu").mkdir()
    (packages / "torch_npu/__init__.py").write_text(code)
    record = packages / f"torch_npu-{version}.dist-info"
    record.mkdir()
    (record / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: torch_npu\nVersion: {version}\n"
    )
    (record / "entry_points.txt").write_text("[torch.backends]\ntorch_npu = torch_npu:_autoload\n")


def test_a_machine_without_an_accelerator_has_no_problem(doctor: Run, tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise SystemExit('the working directory is no package')")
    done = doctor()
    assert done.code == 0
    assert done.document["problems"] == 0
    state, text, _ = done.entry("Device", "choice")
    assert state == "ok"
    assert text.startswith("cpu, since there is no accelerator: torch_npu isn't installed")
    assert done.entry("torch", "torch_npu")[0] == "absent"


@pytest.mark.parametrize(
    ("code", "text", "mend"),
    [
        (
            "raise ImportError('libhccl.so: cannot open shared object file: No such file')",
            "ImportError: libhccl.so",
            "source CANN's set_env.sh",
        ),
        ("import os\nos.abort()", "the process ended by signal 6", "then install torch_npu anew"),
    ],
    ids=["raises", "dies"],
)
def test_a_torch_npu_that_cannot_be_imported(
    doctor: Run, packages: Path, code: str, text: str, mend: str
) -> None:
    torch_npu(packages, TORCH, code)
    done = doctor()
    assert done.code == 1
    state, said, wanted = done.entry("torch", "torch_npu")
    assert state == "problem"
    assert said.startswith(f"{TORCH} can't be imported")
    assert text in said
    assert mend in wanted
    assert done.entry("torch", "torch")[0] == "ok"  # it is torch_npu that fails, not torch
    assert done.entry("CANN", "installed")[0] == "problem"


def test_a_pair_that_does_not_fit(doctor: Run, packages: Path) -> None:
    code = "raise ImportError('libtorch_npu.so: undefined symbol: _ZN3c10')"
    torch_npu(packages, "2.5.1.post1", code)
    done = doctor()
    assert done.code == 1
    assert done.entry("torch", "pair") == (
        "problem",
        f"torch_npu 2.5.1.post1 is made for torch 2.5.1, and torch is {_torch_version()}",
        f"pip install torch==2.5.1 or pip install torch_npu=={TORCH}",
    )
    assert done.entry("torch", "torch_npu")[2].startswith("the two don't fit each other")


def test_an_import_that_hangs(doctor: Run, packages: Path) -> None:
    (packages / "torch").mkdir()
    (packages / "torch/__init__.py").write_text("import time\ntime.sleep(600)")
    done = doctor("--timeout", "1")
    state, text, mend = done.entry("torch", "torch")
    assert state == "problem"
    assert "gave no answer within 1 s" in text
    assert "--timeout" in mend
    assert done.entry("Device", "choice")[0] == "note"


@pytest.mark.slow
def test_a_torch_npu_that_hangs(doctor: Run, packages: Path) -> None:
    torch_npu(packages, TORCH, "import time\ntime.sleep(600)")
    done = doctor("--timeout", "30", TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    state, text, mend = done.entry("torch", "torch_npu")
    assert state == "problem"
    assert "gave no answer within 30 s" in text
    assert "--timeout" in mend


def test_npus_without_torch_npu(doctor: Run, program: Program, tmp_path: Path) -> None:
    table = tmp_path / "table"
    table.write_text(sample("npu-smi-25.3-910b"))
    program("npu-smi", f"cat {table}")
    done = doctor()
    assert done.code == 1
    assert done.entry("Device", "NPUs")[1:] == (
        "npu-smi shows 2, and torch_npu isn't installed",
        f"pip install torch_npu=={TORCH}",
    )
    assert done.problems() == ["NPUs"]
    assert doctor(PORTER_DEVICE="cpu").problems() == []  # then it is meant


def test_a_device_that_is_forced_and_is_not_there(doctor: Run) -> None:
    done = doctor(PORTER_DEVICE="npu")
    assert done.code == 1
    assert "PORTER_DEVICE=npu, but torch_npu is not installed" in done.entry("Device", "choice")[1]


def test_transfer_to_npu_that_is_active(doctor: Run, packages: Path) -> None:
    (packages / "sitecustomize.py").write_text(
        "import sys\n"
        "sys.modules['torch_npu.contrib.transfer_to_npu'] = sys\n"
        "'probe' in str(sys.orig_argv) and print('{} is no answer of the probe')\n"
    )
    assert doctor().problems() == ["transfer_to_npu"]


def test_an_emulated_npu(environment: dict[str, str], tmp_path: Path) -> None:
    from porter.emulated import emulated_env

    emulated = emulated_env("npu", devices=2)
    emulated["PYTHONPATH"] += os.pathsep + environment["PYTHONPATH"]
    done = subprocess.run(
        [sys.executable, "-m", "porter", "doctor"],
        env={**emulated, "HOME": str(tmp_path), "ASCEND_RT_VISIBLE_DEVICES": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert "ok choice npu (emulated), since torch sees 1 of its devices" in lines
    assert "ok first use adds numbers on npu:0" in lines
    assert lines[-1] == "no problem: ported code runs on npu"
    assert "\x1b" not in done.stdout  # no colour where no terminal is


def test_the_text_is_aligned_and_no_wider_than_the_terminal(
    environment: dict[str, str],
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "porter", "doctor"],
        env={**environment, "COLUMNS": "80", "PORTER_DEVICE": "npu", "HCCL_IF_IP": "no-address"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert [line for line in lines if len(line) > 80 and "/" not in line] == []
    starts = {line.index(line.split()[2]) for line in lines if line.startswith("  PROBLEM")}
    assert len(starts) == 1
    assert lines[-1] == "2 problems"


@pytest.mark.parametrize("arguments", [["--timeout", "0"], ["--timeout", "x"], ["here"]])
def test_wrong_usage(environment: dict[str, str], arguments: list[str]) -> None:
    command = [sys.executable, "-m", "porter", "doctor", *arguments]
    assert (
        subprocess.run(command, env=environment, capture_output=True, check=False).returncode == 2
    )


def test_asking_for_help_imports_neither_torch_nor_the_examination(
    environment: dict[str, str],
) -> None:
    program = (
        "import sys\nfrom porter.__main__ import main\n"
        "try: main(['doctor', '--help'])\nexcept SystemExit: pass\n"
        "heavy = {'torch', 'json', 'porter.doctor'}\n"
        "print(*heavy.intersection(sys.modules), file=sys.stderr)"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "porter doctor --json" in done.stdout
    assert done.stderr.split() == []


def _torch_version() -> str:
    from importlib.metadata import version

    return version("torch")
