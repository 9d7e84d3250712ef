"""Runs the shim's tests on the oldest torch that is supported, 2.1, without its CUDA libraries.

    python tests/runtime/run_on_oldest_torch.py PYTHON FOLDER

PYTHON is a Python 3.8 to 3.11; FOLDER keeps the environment for the next run. The package index
has torch 2.1 for Linux as a CUDA build alone (670 MB), and its CUDA libraries are another 2 GB. A
machine without CUDA never calls into them, so gcc makes stand-ins that only satisfy the loader; the
small CUDA runtime itself, which is called at import, is the real one.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

TORCH = "torch==2.1.2"
REAL = ["cuda-runtime", "nvtx", "cuda-cupti"]
OTHERS = ["numpy<2", "typing_extensions", "sympy", "networkx", "jinja2", "filelock", "fsspec"]

# Stand-in -> what the names of its functions begin with.
STAND_INS = {
    "libcublas.so.12": "cublas(?!Lt)",
    "libcublasLt.so.12": "cublasLt",
    "libcudnn.so.8": "cudnn",
    "libcufft.so.11": "cufft",
    "libcurand.so.10": "curand",
    "libcusolver.so.11": "cusolver",
    "libcusparse.so.12": "cusparse",
    "libnccl.so.2": "nccl",
    "libnvrtc.so.12": "nvrtc",
    "libcuda.so.1": "cu[A-Z]",
}


def install(python: str, folder: Path) -> Path:
    """Make the environment and return its python."""
    inner = folder / "venv" / "bin" / "python"
    if not inner.exists():
        subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
        pip = [str(inner), "-m", "pip", "install", "--quiet", "--no-cache-dir"]
        real = [f"nvidia-{name}-cu12==12.1.105" for name in REAL]
        subprocess.run([*pip, "--no-deps", TORCH, *real], check=True)
        subprocess.run([*pip, "pytest", *OTHERS], check=True)
    return inner


def make_stand_ins(libraries: Path, folder: Path) -> None:
    """Compile a library for each name in STAND_INS that defines what torch's libraries look for."""
    folder.mkdir(exist_ok=True)
    wanted = set()
    for library in libraries.glob("*.so"):
        listed = subprocess.run(
            ["nm", "-D", "--undefined-only", library], capture_output=True, text=True, check=True
        )
        wanted |= {line.split()[-1] for line in listed.stdout.splitlines()}
    for name, prefix in STAND_INS.items():
        versions: dict[str, list[str]] = defaultdict(list)
        for symbol in wanted:
            function, _, version = symbol.partition("@")
            if re.match(prefix, function):
                versions[version.strip("@")].append(function)
        functions = [function for listed in versions.values() for function in listed]
        code = folder / "code.c"
        code.write_text(
            "".join(f"int {function}(void) {{ return 999; }}\n" for function in functions)
        )
        script = folder / "versions.map"
        script.write_text(
            "".join(
                f"{version} {{ global: {' '.join(f'{function};' for function in listed)} }};\n"
                for version, listed in versions.items()
                if version
            )
        )
        versioned = [f"-Wl,--version-script={script}"] if script.stat().st_size else []
        subprocess.run(
            [
                *("gcc", "-shared", "-fPIC", "-o", str(folder / name)),
                *(f"-Wl,-soname,{name}", str(code), *versioned),
            ],
            check=True,
        )


def main() -> int:
    """Run the tests; the exit code is pytest's."""
    python, folder = sys.argv[1], Path(sys.argv[2]).absolute()
    inner = install(python, folder)
    (packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
    stand_ins = folder / "stand_ins"
    make_stand_ins(packages / "torch" / "lib", stand_ins)
    real = [packages / "nvidia" / name.replace("-", "_") / "lib" for name in REAL]
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": os.pathsep.join(str(path) for path in [stand_ins, *real]),
        "OMP_NUM_THREADS": "1",
    }
    tests = Path(__file__).parent
    return subprocess.run(
        [
            *(str(inner), "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider"),
            *(f"--confcutdir={tests}", str(tests)),
        ],
        cwd=tests.parents[1],
        env=environment,
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
