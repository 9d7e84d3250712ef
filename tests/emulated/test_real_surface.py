"""The table of the real package's names is what its wheel says."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.emulated.real_surface import TABLE, VERSION, surface


@pytest.mark.slow
def test_the_table_is_the_real_wheels(tmp_path: Path) -> None:
    options = ["--quiet", "--no-deps", "--python-version=311", "--only-binary=:all:"]
    command = [sys.executable, "-m", "pip", "download", *options, f"--dest={tmp_path}"]
    subprocess.run([*command, f"torch-npu=={VERSION}"], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(
            tmp_path, [name for name in archive.namelist() if name.startswith("torch_npu/npu/")]
        )
    assert surface(tmp_path / "torch_npu") == json.loads(TABLE.read_text(encoding="utf-8"))
