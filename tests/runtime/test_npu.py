"""Runs npu_cases.py in a process of its own, and reads the real wheels when asked to."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from porter_runtime import _names
from tests.runtime.torch_npu_sources import AUTOCAST_STATE, VERSIONS, read_sources, read_table

HERE = Path(__file__).parent

# The Python that each version has a wheel for.
PYTHONS = {"2.1.0": "3.9"}


def test_the_shim_on_a_fake_npu() -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *(f"--confcutdir={HERE}", str(HERE / "npu_cases.py")),
        ],
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) > 100


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_the_table_is_what_the_real_wheel_holds(version: str, tmp_path: Path) -> None:
    platforms: Any = [f"manylinux_2_{minor}_x86_64" for minor in (17, 27, 28)]
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"),
            *("--only-binary", ":all:", "--python-version", PYTHONS.get(version, "3.11")),
            *(f"--platform={platform}" for platform in platforms),
            *("--dest", tmp_path, f"torch_npu=={version}"),
        ],
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        sources = [name for name in archive.namelist() if name.endswith(".py")]
        archive.extractall(tmp_path, sources)
    asked = _names.MIRRORED | AUTOCAST_STATE
    assert read_sources(tmp_path / "torch_npu", asked) == read_table()[version]
