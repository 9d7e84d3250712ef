"""Runs of axolotl's commands, from the original tree or a port, on a backend."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.fixtures.trainings import ABORTED_AT_EXIT, ATTEMPTS, TRAP, free_port
from tests.ports.axolotl.environment import HERE, emulated

SHIM = "axolotl/_accel/"
TIMEOUT = 480

LAUNCHERS = {
    "torchrun": ["torch.distributed.run", "--standalone", "--nproc-per-node=2"],
    "accelerate launch": [
        *("accelerate.commands.accelerate_cli", "launch", "--multi_gpu"),
        *("--num_machines=1", "--num_processes=2", "--main_process_port={port}"),
    ],
}


@dataclass(frozen=True)
class Run:
    """What came of a command.

    Attributes:
        output: stdout and stderr together.
        seconds: its wall time.
        witnessed: what the processes said of themselves, in order for each.
        trapped: `file:line name` for each call of torch.cuda from axolotl.
        folder: where it ran; axolotl saves in its `out`.
    """

    returncode: int
    output: str
    seconds: float
    witnessed: list[dict[str, Any]]
    trapped: list[str]
    folder: Path

    def losses(self, rank: int = 0) -> list[float]:
        """Returns the losses of a rank, unrounded."""
        return [said["loss"] for said in self.witnessed if "loss" in said and said["rank"] == rank]

    @property
    def devices(self) -> dict[int, set[str]]:
        """The devices of the weights, by rank."""
        devices: dict[int, set[str]] = {}
        for said in self.witnessed:
            if "device" in said:
                devices.setdefault(said["rank"], set()).add(said["device"])
        return devices

    @property
    def dtypes(self) -> set[str]:
        """The dtypes of the weights."""
        return {said["dtype"] for said in self.witnessed if "device" in said}

    @property
    def collectives(self) -> set[str | None]:
        """The backends of the process groups that the weights were used in."""
        return {said["collectives"] for said in self.witnessed if "device" in said}


@dataclass
class Axolotl:
    """A tree of axolotl, and runs of it below `root`, each way of training once.

    Attributes:
        tree: the unpacked source distribution, with its `src` and egg-info.
        python: the environment's Python.
        inputs: what make_inputs.py made.
    """

    tree: Path
    python: Path
    inputs: Path
    root: Path
    _done: dict[tuple[object, ...], Run] = field(default_factory=dict)

    def train(self, backend: str, launcher: str | None = None, **options: object) -> Run:
        """Trains with the config and these options instead; two processes with a launcher."""
        key = (backend, launcher, *sorted(options.items()))
        if key not in self._done:
            launch = [part.format(port=free_port()) for part in LAUNCHERS.get(launcher or "", [])]
            command = [*launch, *(["-m"] if launch else []), "axolotl.cli.train", "lora.yml"]
            self._done[key] = self.run(
                backend, command, devices=2 if launch else 1, options=options
            )
        return self._done[key]

    def run(
        self,
        backend: str,
        command: list[str],
        devices: int = 1,
        options: Mapping[str, object] | None = None,
        stdin: str = "",
        trace: bool = False,
    ) -> Run:
        """Runs one of axolotl's modules to its end."""
        for _ in range(ATTEMPTS):
            with self.started(backend, command, devices, options, trace) as child:
                output, _ = child.process.communicate(stdin, timeout=TIMEOUT)
                run = child.end(output)
            if ABORTED_AT_EXIT not in run.output:
                break
        return run

    @contextmanager
    def started(
        self,
        backend: str,
        command: list[str],
        devices: int = 1,
        options: Mapping[str, object] | None = None,
        trace: bool = False,
    ) -> Iterator[Child]:
        """Starts one of axolotl's modules, in a folder of its own, and ends it with the context."""
        folder = Path(tempfile.mkdtemp(dir=self.root))
        (folder / "witness").mkdir()
        (folder / "inputs").symlink_to(self.inputs)
        config = yaml.safe_load((HERE / "lora.yml").read_text()) | dict(options or {})
        (folder / "lora.yml").write_text(yaml.safe_dump(config))
        child = Child(
            subprocess.Popen(
                [str(self.python), "-m", *command],
                cwd=folder,
                env=self.environment(backend, devices, folder, trace),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
            ),
            folder,
        )
        try:
            yield child
        finally:
            if child.process.poll() is None:
                os.killpg(child.process.pid, signal.SIGKILL)
            child.process.communicate()

    def environment(
        self, backend: str, devices: int, folder: Path, trace: bool = False
    ) -> dict[str, str]:
        """Returns the environment of a child that sees this tree, one backend and the watchers.

        The machine has two emulated NPUs, of which the child sees as many as it is given.
        """
        if backend == "cpu":
            env = {**os.environ}
            visible = ""
        else:
            device = backend.removesuffix("-emulated")
            env = emulated(self.python, device, folder / "trace" if trace else None)
            visible = ",".join(map(str, range(devices)))
        watchers = [HERE / "witness", *([TRAP] if backend != "cuda-emulated" else [])]
        path = [*map(str, watchers), str(self.tree / "src"), env.get("PYTHONPATH", "")]
        env.pop("PORTER_DEVICE", None)
        return env | {
            "PYTHONPATH": os.pathsep.join(filter(None, path)),
            "ASCEND_RT_VISIBLE_DEVICES": visible,
            "CUDA_VISIBLE_DEVICES": visible,
            "WITNESS": str(folder / "witness"),
            "CUDA_TRAP_ROOT": str((self.tree / "src").resolve()),
            "CUDA_TRAP_RECORD": str(folder / "trapped"),
            "OMP_NUM_THREADS": "1",
            "HF_HUB_OFFLINE": "1",
            "HF_HOME": str(folder / "huggingface"),
            "WANDB_MODE": "disabled",
            "GRADIO_ANALYTICS_ENABLED": "False",
        }


@dataclass
class Child:
    """A command that runs."""

    process: subprocess.Popen[str]
    folder: Path
    begin: float = field(default_factory=time.monotonic)

    def end(self, output: str) -> Run:
        """Returns what came of it until now."""
        files = sorted((self.folder / "witness").iterdir())
        witnessed = [json.loads(line) for file in files for line in file.read_text().splitlines()]
        record = self.folder / "trapped"
        lines = record.read_text().splitlines() if record.exists() else []
        return Run(
            returncode=self.process.returncode or 0,
            output=output,
            seconds=time.monotonic() - self.begin,
            witnessed=witnessed,
            trapped=[line for line in lines if not line.startswith(SHIM)],
            folder=self.folder,
        )
