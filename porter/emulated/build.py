"""Builds the C++ extensions once per torch, Python and source; the user's cache keeps them."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

_SOURCES = Path(__file__).parent / "csrc"
_COMPILE = Path(__file__).parent / "compile.py"
_LIBRARY = "_C.so"


class BuildError(RuntimeError):
    """The extension can't be built; the message says what to install, or shows the compiler's."""


def library(backend: str) -> Path:
    """Returns the built extension of "npu" or "cuda", building it first if it isn't in the cache.

    The cache is PORTER_CACHE_DIR or, without it, ``porter`` in the XDG cache directory.

    Raises:
        BuildError: if it must be built and can't be.
    """
    target = _cache() / f"emulated-{backend}" / _key() / _LIBRARY
    if not target.exists():
        check_tools()
        target.parent.mkdir(parents=True, exist_ok=True)
        from filelock import FileLock  # a dependency of torch, so only surely there beside it

        with FileLock(target.with_suffix(".lock")):
            if not target.exists():
                _build(backend, target)
    return target


def _cache() -> Path:
    own = os.environ.get("PORTER_CACHE_DIR")
    if own:
        return Path(own).expanduser().absolute()
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "porter"


def _key() -> str:
    try:
        torch_version = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        raise BuildError(
            "the emulated devices need torch: pip install 'porter-codemod[verify]'"
        ) from None
    digest = hashlib.sha256()
    for source in [_COMPILE, *sorted(_SOURCES.iterdir())]:
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    tag = f"{sys.implementation.cache_tag}-{platform.machine()}"
    return f"torch-{torch_version}-{tag}-{digest.hexdigest()[:16]}"


def check_tools() -> None:
    """Check that what builds the extension is there.

    Raises:
        BuildError: something isn't; the message says what to install.
    """
    compiler = os.environ.get("CXX", "c++")
    if shutil.which(compiler) is None:
        raise BuildError(
            f"the emulated devices are built with a C++20 compiler, and {compiler!r} isn't there: "
            "install g++ (Debian, Ubuntu: apt install g++; Fedora: dnf install gcc-c++), or set CXX"
        )
    if shutil.which("ninja", path=_path()) is None:
        raise BuildError("the emulated devices are built with ninja: pip install ninja")
    if not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        raise BuildError(
            "the emulated devices are built against Python's headers, and Python.h isn't there: "
            "install them (Debian, Ubuntu: apt install python3-dev; Fedora: dnf install "
            "python3-devel)"
        )


def _path() -> str:
    # pip puts ninja beside the interpreter, which is on PATH only in an activated environment.
    return os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])


def _build(backend: str, target: Path) -> None:
    device = f"emulated {backend.upper()}"
    print(f"porter: building the {device}, once, in a minute or two", file=sys.stderr)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        # torch must not autoload an accelerator's package into the build: it may be this one.
        run = subprocess.run(
            [sys.executable, str(_COMPILE), backend, str(_SOURCES), scratch],
            env={**os.environ, "PATH": _path(), "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        built = Path(scratch) / _LIBRARY
        if run.returncode or not built.exists():
            log = target.with_name("build.log")
            log.write_text(run.stdout, encoding="utf-8")
            errors = [line for line in run.stdout.splitlines() if "error" in line.lower()]
            raise BuildError(
                f"the {device} can't be built with torch {importlib.metadata.version('torch')} "
                "(it is made for 2.13). The compiler says:\n"
                + "\n".join((errors or run.stdout.splitlines())[:10])
                + f"\nAll of it: {log}"
            )
        built.replace(target)
