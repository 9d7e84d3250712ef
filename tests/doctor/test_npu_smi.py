from __future__ import annotations

from pathlib import Path

import pytest

from porter.doctor import Section, State, npu_smi
from porter.doctor.npu_smi import Npu, parse
from tests.doctor.conftest import Program, sample


@pytest.mark.parametrize(
    ("text", "version", "chips"),
    [
        (
            sample("npu-smi-25.3-910b"),
            "25.3.rc1",
            [Npu(0, 0, "910B3", "OK", 3000, 65536), Npu(5, 0, "910B3", "OK", 65000, 65536)],
        ),
        (
            sample("npu-smi-26.0-two-chips"),
            "26.0.rc2",
            [
                Npu(0, 0, "Ascend910", "OK", 3400, 65536),
                Npu(0, 1, "Ascend910", "Warning", 2800, 65536),
            ],
        ),
        (sample("npu-smi-23.0-310p"), "23.0.3", [Npu(2, 0, "310P3", "OK", 1000, 21534)]),
        (sample("npu-smi-23.0-910b"), "23.0.rc1", [Npu(0, 0, "910B", "OK", 1, 32768)]),
        (
            sample("npu-smi-25.6-950"),
            "25.6.rc1.b218",
            [
                Npu(0, 0, "Ascend950DT", "OK", 4700, 98304),
                Npu(7, 0, "Ascend950DT", "Alarm", 4700, 98304),
            ],
        ),
        (sample("npu-smi-occupied"), "", []),
        ("", "", []),
        ("| a | b |\n| c | d | e |\n|||\n", "", []),
    ],
    ids=["910B", "two chips", "310P", "910B of 2023", "950", "occupied", "nothing", "nonsense"],
)
def test_the_table_of_each_version_is_read(text: str, version: str, chips: list[Npu]) -> None:
    assert parse(text) == (version, chips)


def test_a_table_that_was_cut_off_gives_the_whole_chips() -> None:
    lines = sample("npu-smi-25.3-910b").splitlines()
    assert [chip.npu for chip in parse("\n".join(lines[:10]))[1]] == [0]


def entries(section: Section) -> dict[str, tuple[State, str]]:
    return {entry.name: (entry.state, entry.text) for entry in section.entries}


def test_health_and_memory_are_judged(program: Program, tmp_path: Path) -> None:
    table = tmp_path / "table"
    table.write_text(
        sample("npu-smi-25.3-910b").replace(
            "| 0     910B3               | OK     ", "| 0     910B3               | Warning"
        )
    )
    smi = program("npu-smi", f'[ "$*" = info ] && cat {table}')
    section = npu_smi.examine(10, tmp_path)
    assert entries(section) == {
        "npu-smi": (State.OK, f"25.3.rc1, {smi}"),
        "NPU 0": (State.PROBLEM, "910B3, 62536 of 65536 MB free, health Warning"),
        "NPU 5": (State.NOTE, "910B3, 536 of 65536 MB free"),
    }
    assert section.facts["devices"][1]["used"] == 65000


def test_a_second_chip_is_named(program: Program, tmp_path: Path) -> None:
    table = tmp_path / "table"
    table.write_text(sample("npu-smi-26.0-two-chips"))
    program("npu-smi", f"cat {table}")
    named = entries(npu_smi.examine(10, tmp_path))
    assert named["NPU 0"][0] is State.OK
    assert named["NPU 0 chip 1"][0] is State.PROBLEM


@pytest.mark.parametrize(
    ("script", "text", "mend"),
    [
        (
            f"echo '{sample('npu-smi-occupied').strip()}'; exit 1",
            "ended with exit code 1: dcmi model initialized failed, because the device is used.",
            "another container holds the same NPUs",
        ),
        ("echo broken >&2; exit 255", "ended with exit code 255: broken", "/dev/davinci*"),
        ("echo ok", "names no device: ok", "/dev/davinci*"),
        ("kill -SEGV $$", "ended by signal 11", "/dev/davinci*"),
        ("sleep 600 & sleep 600", "gave no answer within 0.5 s", "/dev/davinci*"),
    ],
    ids=["occupied", "fails", "no device", "dies", "hangs"],
)
def test_an_npu_smi_that_does_not_answer_is_a_problem(
    program: Program, tmp_path: Path, script: str, text: str, mend: str
) -> None:
    program("npu-smi", script)
    (entry,) = npu_smi.examine(0.5 if "sleep" in script else 10, tmp_path).entries
    assert entry.state is State.PROBLEM
    assert text in entry.text
    assert mend in entry.mend


def test_a_missing_npu_smi(program: Program, tmp_path: Path) -> None:
    assert entries(npu_smi.examine(10, tmp_path))["devices"][0] is State.ABSENT
    info = tmp_path / "usr/local/Ascend/driver/version.info"
    info.parent.mkdir(parents=True)
    info.write_text("Version=24.1.rc2\nascendhal_version=7.35\n")
    section = npu_smi.examine(10, tmp_path)
    assert entries(section)["driver"] == (State.OK, "24.1.rc2")
    assert entries(section)["devices"][0] is State.PROBLEM
    (tmp_path / "dev").mkdir()
    for name in ("davinci0", "davinci1", "davinci_manager"):
        (tmp_path / "dev" / name).touch()
    state, text = entries(npu_smi.examine(10, tmp_path))["npu-smi"]
    assert state is State.PROBLEM
    assert "davinci0, davinci1" in text
    assert "manager" not in text


def test_npu_smi_is_found_where_the_driver_puts_it(program: Program, tmp_path: Path) -> None:
    table = tmp_path / "table"
    table.write_text(sample("npu-smi-23.0-310p"))
    smi = program("elsewhere", f"cat {table}")
    target = tmp_path / "usr/local/sbin/npu-smi"
    target.parent.mkdir(parents=True)
    smi.rename(target)
    assert entries(npu_smi.examine(10, tmp_path))["NPU 2"][0] is State.OK
