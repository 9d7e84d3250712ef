from __future__ import annotations

from pathlib import Path

from porter.doctor import State, nvidia_smi
from tests.doctor.conftest import Program


def test_the_gpus_are_listed(program: Program, tmp_path: Path) -> None:
    program("nvidia-smi", "echo '0, NVIDIA H200, 570.86.15, 143000, 143771'")
    section = nvidia_smi.examine(10, tmp_path)
    assert [(e.name, e.state) for e in section.entries] == [
        ("driver", State.OK),
        ("GPU 0", State.OK),
    ]
    assert section.entries[1].text == "NVIDIA H200, 143000 of 143771 MB free"
    assert section.facts["driver"] == "570.86.15"


def test_a_driver_that_fails_is_a_problem(program: Program, tmp_path: Path) -> None:
    program("nvidia-smi", "echo 'Driver/library version mismatch'; exit 18")
    (entry,) = nvidia_smi.examine(10, tmp_path).entries
    assert entry.state is State.PROBLEM
    assert entry.text == "ended with exit code 18: Driver/library version mismatch"


def test_no_nvidia_smi(program: Program, tmp_path: Path) -> None:
    (entry,) = nvidia_smi.examine(10, tmp_path).entries
    assert entry.state is State.ABSENT
    loaded = tmp_path / "proc/driver/nvidia/version"
    loaded.parent.mkdir(parents=True)
    loaded.touch()
    (entry,) = nvidia_smi.examine(10, tmp_path).entries
    assert entry.state is State.PROBLEM
