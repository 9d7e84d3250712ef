"""Accelerate's trees (original, ported, mended), and runs of its commands on a backend."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any

from porter.emulated import emulated_env
from tests.fixtures.trainings import ABORTED_AT_EXIT, ATTEMPTS, TRAP, free_port
from tests.ports.command import porter

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
TRAIN = str(HERE / "programs" / "train_pairs.py")
STEPS = 24
SHORT = (f"--steps={STEPS}",)
TIMEOUT = 240
SHIM = "accelerate/_accel/"

_VISIBLE = 'current_env["CUDA_VISIBLE_DEVICES"] = '
MENDS = {
    "utils/memory.py": [
        (
            "return any(err in exception.args[0] for err in _statements)",
            "return accel.is_out_of_memory(exception) or "
            "any(err in exception.args[0] for err in _statements)",
        )
    ],
    "utils/launch.py": [(_VISIBLE, f'{_VISIBLE}current_env["ASCEND_RT_VISIBLE_DEVICES"] = ')],
}
"""What porter says is left, done as it says: file, and (text, text instead) at every place."""


@dataclass(frozen=True)
class Run:
    """What came of a command: stdout and stderr together, the seconds, the trap's lines."""

    returncode: int
    output: str
    seconds: float
    trapped: list[str]
    result_file: Path

    @property
    def answer(self) -> Any:
        """What the last line says, as JSON."""
        assert self.returncode == 0, self.output
        return json.loads(self.output.splitlines()[-1])

    @cached_property
    def result(self) -> dict[str, Any]:
        """What the training script measured."""
        assert self.returncode == 0, self.output
        measured = json.loads(self.result_file.read_text())
        assert isinstance(measured, dict)
        return measured

    @property
    def losses(self) -> list[float]:
        losses = self.result["losses"]
        assert isinstance(losses, list)
        return losses


@dataclass
class Tree:
    """A copy of Accelerate, with its console scripts, that runs in child processes."""

    folder: Path
    _done: dict[tuple[object, ...], Run] = field(default_factory=dict)
    _count: int = 0

    @property
    def package(self) -> Path:
        return self.folder / "accelerate"

    def run(self, *command: str, backend: str = "cpu", devices: int = 1, **variables: str) -> Run:
        """Runs Python on a script, or one of Accelerate's scripts, and waits for its end."""
        self._count += 1
        folder = self.folder.with_name(f"run-{self._count}")
        folder.mkdir()
        result, record = folder / "result.json", folder / "trapped.txt"
        program, *arguments = [part.replace("{result}", str(result)) for part in command]
        if (script := self.folder / "bin" / program).exists():
            program = str(script)
        env = self.environment(backend, devices) | {
            "CUDA_TRAP_ROOT": str(self.folder.resolve()),
            "CUDA_TRAP_RECORD": str(record),
            "HF_HOME": str(folder),
        }
        for _ in range(ATTEMPTS):
            begin = time.monotonic()
            with subprocess.Popen(
                [sys.executable, program, *arguments],
                cwd=folder,
                env=env | variables,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            ) as child:
                try:
                    output, _ = child.communicate(timeout=TIMEOUT)
                finally:
                    if child.poll() is None:
                        os.killpg(child.pid, signal.SIGKILL)
            seconds = time.monotonic() - begin
            if ABORTED_AT_EXIT not in output:
                break
        lines = record.read_text().splitlines() if record.exists() else []
        trapped = [line for line in lines if not line.startswith(SHIM)]
        return Run(child.returncode, output, seconds, trapped, result)

    def launch(
        self,
        script: str,
        *arguments: str,
        backend: str = "cpu",
        processes: int = 2,
        options: Sequence[str] | None = None,
    ) -> Run:
        """Starts a script by `accelerate launch`; `options` instead of those that count."""
        if options is None:
            options = ["--num_machines=1", f"--num_processes={processes}", "--mixed_precision=no"]
            options += ["--dynamo_backend=no"] + ["--multi_gpu"] * (processes > 1)
        port = [f"--main_process_port={free_port()}"] * (processes > 1)
        command = ("accelerate", "launch", *options, *port, script, *arguments)
        return self.run(*command, backend=backend, devices=processes)

    def train(
        self,
        *arguments: str,
        backend: str = "cpu",
        processes: int = 1,
        options: Sequence[str] | None = None,
    ) -> Run:
        """Trains the classifier of pairs, each way once."""
        key = (arguments, backend, processes, tuple(options or ()))
        if key not in self._done:
            self._done[key] = self.launch(
                TRAIN,
                *arguments,
                "--result={result}",
                backend=backend,
                processes=processes,
                options=options,
            )
        return self._done[key]

    def environment(self, backend: str, devices: int) -> dict[str, str]:
        """Returns the environment of a child that sees this tree, one backend, and the trap."""
        if backend == "cpu":
            env = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "ASCEND_RT_VISIBLE_DEVICES": ""}
        else:
            device = backend.removesuffix("-emulated")
            env = emulated_env(device, devices=devices, strict=device == "npu")
        path = [str(self.folder), *filter(None, [env.get("PYTHONPATH")])]
        if backend != "cuda-emulated":  # there, torch.cuda is what ought to be called
            path.insert(0, str(TRAP))
        env |= {
            "PYTHONPATH": os.pathsep.join(path),
            "PATH": os.pathsep.join([str(self.folder / "bin"), env["PATH"]]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OMP_NUM_THREADS": "1",
            "HF_HUB_OFFLINE": "1",
            # Accelerate 0.20.3 is older than torch.load's default, under which a resume loses the
            # random states without an error.
            "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1",
        }
        env.pop("PORTER_DEVICE", None)
        return env


def copied(source: Path, folder: Path) -> Tree:
    """Copies an unpacked wheel and makes its console scripts, as pip does."""
    shutil.copytree(source, folder)
    (folder / "bin").mkdir()
    for entry in Distribution.at(next(folder.glob("*.dist-info"))).entry_points:
        module, _, function = entry.value.partition(":")
        script = folder / "bin" / entry.name
        script.write_text(f"#!{sys.executable}\nfrom {module} import {function}\n{function}()\n")
        script.chmod(0o755)
    return Tree(folder)


def ported(source: Path, folder: Path) -> Tree:
    """Copies a wheel's tree and ports it with a shim of its own."""
    tree = copied(source, folder)
    (folder / "pyproject.toml").write_text('[tool.porter]\nvendor = "accelerate"\n')
    done = porter("rewrite", str(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    return tree


def mended(port: Tree, folder: Path) -> Tree:
    """Copies a ported tree and does in it what porter said is left to do for NPUs."""
    shutil.copytree(port.folder, folder)
    tree = Tree(folder)
    for name, replacements in MENDS.items():
        file = tree.package / name
        text = file.read_text()
        for old, new in replacements:
            assert old in text, f"{name} has no {old!r}"
            text = text.replace(old, new)
        file.write_text(text)
    return tree
