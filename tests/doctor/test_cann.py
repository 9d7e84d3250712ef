"""CANN's folders as its installers lay them out, with empty libraries."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from porter.doctor import Section, State, cann

INFO = "package_name=Ascend-cann-toolkit\nversion={}\ninnerversion=V100R001\narch=aarch64\n"


def toolkit(home: Path, version: str, library: Path | None = None) -> Path:
    """Put a toolkit into a folder: the record, the libraries and the script for shells."""
    record = home / "aarch64-linux/ascend_toolkit_install.info"
    record.parent.mkdir(parents=True)
    record.write_text(INFO.format(version))
    (home / "opp").mkdir()
    (home / "lib64").mkdir()
    if library is not None:
        for name in ("libascendcl.so", "libhccl.so"):
            shutil.copy(library, home / "lib64" / name)
    return home


def until_8_3(place: Path, *versions: str, library: Path | None = None) -> Path:
    """Install versions below ascend-toolkit; `latest` is a link to the last."""
    folder = place / "ascend-toolkit"
    for version in versions:
        toolkit(folder / version, version, library)
    (folder / "latest").symlink_to(versions[-1])
    (folder / "set_env.sh").touch()
    return folder / "latest"


def from_8_5(place: Path, version: str) -> Path:
    """Install a version as cann-VERSION; `cann` is a link to it."""
    home = toolkit(place / f"cann-{version}", version)
    (home / "set_env.sh").touch()
    (place / "cann").symlink_to(home.name)
    return home


def found(*places: Path) -> list[tuple[str, str, str]]:
    return [
        (each.home.name, each.version, str(each.set_env and each.set_env.parent.name))
        for each in cann.find(places)
    ]


def test_the_layouts_of_several_versions_are_found(tmp_path: Path) -> None:
    until_8_3(tmp_path, "8.0.0", "8.1.RC1")
    from_8_5(tmp_path, "9.0.0")
    assert found(tmp_path, tmp_path / "nowhere") == [
        ("8.0.0", "8.0.0", "ascend-toolkit"),
        ("8.1.RC1", "8.1.RC1", "ascend-toolkit"),
        ("cann-9.0.0", "9.0.0", "cann-9.0.0"),
    ]


def test_latest_may_be_a_folder_of_links(tmp_path: Path) -> None:
    folder = tmp_path / "ascend-toolkit"
    toolkit(folder / "7.0.0", "7.0.0")
    (folder / "latest").mkdir()
    (folder / "latest/aarch64-linux").symlink_to("../7.0.0/aarch64-linux")
    assert found(tmp_path) == [("7.0.0", "7.0.0", "None")]
    latest = cann.at(folder / "latest")
    assert latest is not None
    assert latest.home == folder / "7.0.0"


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("toolkit_running_version=[8.2.0.2.220:8.2.RC2]", "8.2.RC2"),
        ("runtime_running_version=[7.6.0.1.220:8.0.0]", "8.0.0"),
        ("toolkit_running_version=[8.5.2]", "8.5.2"),
        ("nothing of the kind", ""),
    ],
)
def test_the_version_stands_in_version_cfg_too(tmp_path: Path, line: str, version: str) -> None:
    folder = tmp_path / "nnae/latest"
    folder.mkdir(parents=True)
    (folder / "version.cfg").write_text(f"# version: 1.0\n{line}\n")
    assert found(tmp_path) == [("latest", version, "None")]


def examine(place: Path, torch_npu: str = "2.5.1", **environment: str) -> Section:
    return cann.examine({"PATH": "/usr/bin:/bin", **environment}, torch_npu, 60, [place])


def states(section: Section) -> dict[str, State]:
    return {entry.name: entry.state for entry in section.entries}


def mends(section: Section) -> str:
    return "\n".join(entry.mend for entry in section.entries if entry.state is State.PROBLEM)


def test_the_version_of_the_shell_is_judged(tmp_path: Path, library: Path) -> None:
    latest = until_8_3(tmp_path, "8.0.0", "8.1.RC1", library=library)
    section = examine(
        tmp_path,
        ASCEND_HOME_PATH=str(latest),
        ASCEND_TOOLKIT_HOME=str(latest),
        ASCEND_OPP_PATH=str(latest / "opp"),
        LD_LIBRARY_PATH=f"{latest}/lib64:/usr/lib",
    )
    assert states(section) == {
        "environment": State.OK,
        "version": State.OK,
        "others": State.NOTE,
        "libraries": State.OK,
    }
    assert section.facts["used"] == str(tmp_path / "ascend-toolkit/8.1.RC1")
    assert [each["version"] for each in section.facts["installed"]] == ["8.0.0", "8.1.RC1"]


def test_a_cann_that_is_older_than_torch_npu(tmp_path: Path) -> None:
    until_8_3(tmp_path, "8.1.RC1", "8.0.0")
    section = examine(tmp_path, ASCEND_HOME_PATH=str(tmp_path / "ascend-toolkit/8.0.0"))
    assert states(section)["version"] is State.PROBLEM
    assert f"source {tmp_path}/ascend-toolkit/set_env.sh" in mends(section)
    section = examine(tmp_path, "2.14.0", ASCEND_HOME_PATH=str(tmp_path / "ascend-toolkit/8.0.0"))
    assert "install CANN 9.2.0" in mends(section)


def test_a_cann_that_is_newer_is_noted(tmp_path: Path) -> None:
    home = from_8_5(tmp_path, "9.0.0")
    assert states(examine(tmp_path, ASCEND_HOME_PATH=str(home)))["version"] is State.NOTE
    assert states(examine(tmp_path, "2.9.0", ASCEND_HOME_PATH=str(home)))["version"] is State.OK


def test_libraries_that_the_loader_does_not_find(tmp_path: Path, library: Path) -> None:
    latest = until_8_3(tmp_path, "8.1.RC1", library=library)
    section = examine(tmp_path, ASCEND_HOME_PATH=str(latest))
    assert states(section)["libraries"] is State.PROBLEM
    assert "libascendcl.so" in section.entries[-1].text
    assert mends(section) == f"source {tmp_path}/ascend-toolkit/set_env.sh"
    shutil.rmtree(tmp_path / "ascend-toolkit/8.1.RC1/lib64")
    assert "anew" in mends(examine(tmp_path, ASCEND_HOME_PATH=str(latest)))


def test_a_shell_that_sourced_nothing(tmp_path: Path) -> None:
    until_8_3(tmp_path, "8.1.RC1")
    section = examine(tmp_path)
    assert states(section) == {"environment": State.PROBLEM}
    assert mends(section) == f"source {tmp_path}/ascend-toolkit/set_env.sh"


@pytest.mark.parametrize("there", [False, True])
def test_a_home_that_leads_nowhere(tmp_path: Path, there: bool) -> None:
    home = tmp_path / "gone"
    if there:
        home.mkdir()
    section = examine(tmp_path, ASCEND_HOME_PATH=str(home))
    assert states(section) == {"environment": State.PROBLEM}
    assert ("no CANN is there" in section.entries[0].text) is there


def test_two_versions_that_are_mixed(tmp_path: Path) -> None:
    until_8_3(tmp_path, "8.0.0", "8.1.RC1")
    old, new = (tmp_path / "ascend-toolkit" / version for version in ("8.0.0", "8.1.RC1"))
    section = examine(
        tmp_path,
        ASCEND_HOME_PATH=str(new),
        ASCEND_TOOLKIT_HOME=str(old),
        ASCEND_OPP_PATH=str(old / "opp"),
        LD_LIBRARY_PATH=f"/usr/lib:{old}/lib64",
    )
    problems = [e.name for e in section.entries if e.state is State.PROBLEM]
    assert problems == ["environment", "ASCEND_OPP_PATH", "LD_LIBRARY_PATH", "libraries"]


def test_no_cann_at_all(tmp_path: Path) -> None:
    assert states(examine(tmp_path, "")) == {"installed": State.ABSENT}
    section = examine(tmp_path, "2.5.1")
    assert states(section) == {"installed": State.PROBLEM}
    assert "install CANN 8.1.RC1" in mends(section)
