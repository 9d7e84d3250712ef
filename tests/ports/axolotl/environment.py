"""axolotl 0.5.2, and the Python and the devices that it runs with, fetched and built once."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
REQUIREMENTS = HERE / "requirements.txt"
AXOLOTL = "axolotl==0.5.2"
PYTHON = "python3.11"
"""The Python whose wheels the requirements name."""
DEVICES = 2

EMULATED = """
import json, pathlib, sys
from porter.emulated import emulated_env
device, devices, trace = sys.argv[1:]
trace = pathlib.Path(trace) if trace else None
env = emulated_env(device, devices=int(devices), strict=device == "npu", trace=trace)
print(json.dumps(env))
"""


def cache() -> Path:
    """Returns the folder that is kept between runs, $XDG_CACHE_HOME/porter-tests."""
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "porter-tests"


def interpreter() -> str | None:
    """Returns Python 3.11: the running one, or the one on the path, if any."""
    return sys.executable if sys.version_info[:2] == (3, 11) else shutil.which(PYTHON)


def python() -> Path:
    """Returns the Python of an environment with axolotl's requirements.

    Building it takes some minutes and 2.5 GB.
    """
    key = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:12]

    def build(folder: Path) -> None:
        found = interpreter()
        assert found is not None
        run(found, "-m", "venv", str(folder))
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        # The pip that comes with Python 3.11 looks at every transformers there is for optimum.
        run(*pip, "--upgrade", "pip")
        run(*pip, "--requirement", str(REQUIREMENTS), "ninja")

    return once(cache() / f"axolotl-environment-{key}", build) / "bin" / "python"


def source(requirement: str = AXOLOTL) -> Path:
    """Returns axolotl's source distribution, unpacked; it is shared: copy it, don't write to it."""

    def fetch(folder: Path) -> None:
        folder.mkdir(parents=True)
        options = ["--no-deps", "--no-binary=:all:", "--quiet", "--dest", str(folder)]
        run(sys.executable, "-m", "pip", "download", *options, requirement)
        (archive,) = folder.glob("*.tar.gz")
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
        archive.unlink()

    name = requirement.replace("==", "-")
    return once(cache() / f"{name}-source", fetch) / name


def emulated(python: Path, device: str, trace: Path | None) -> dict[str, str]:
    """Returns the environment with emulated devices for another Python's children."""
    done = subprocess.run(
        [str(python), "-c", EMULATED, device, str(DEVICES), str(trace or "")],
        cwd=ROOT,
        env={**os.environ, "ASCEND_RT_VISIBLE_DEVICES": "", "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    env = json.loads(done.stdout)
    assert isinstance(env, dict)
    return env


def once(folder: Path, make: Callable[[Path], None]) -> Path:
    """Makes a folder unless it was made to its end before."""
    done = folder.with_name(f"{folder.name}.done")
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        make(folder)
        done.touch()
    return folder


def run(*command: str) -> None:
    """Runs a command, and shows what it said if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
