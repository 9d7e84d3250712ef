"""The outcome of a verify run: what was seen on each backend, what differs, and the verdict.

`Outcome.to_json` is the document that `porter verify --json` writes and that the HTML report is
made of: the dataclasses here, field by field, as JSON objects. Numbers that aren't finite are null
there; where the first one appeared stands in `NonFinite`. A list of values over steps has one
entry for each optimizer step, null where nothing was seen.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

SCHEMA = 1
"""Raised whenever a field changes its meaning or goes."""

Status = Literal[
    "trained",  # the command ended with exit code 0, and optimizer steps were seen
    "stopped",  # ended by porter, as asked, after --steps
    "unavailable",  # the backend isn't on this machine
    "not-found",  # there is no such command
    "crashed",
    "out-of-memory",
    "no-steps",  # exit code 0, and no optimizer step was seen
    "other-code",  # it trained, and nothing under the folder took part
    "timeout",
    "interrupted",
]
COMPLETE: frozenset[Status] = frozenset(["trained", "stopped"])
"""The statuses of runs that can be compared to their end."""

Level = Literal["error", "warning", "note"]
Verdict = Literal["agree", "mismatch", "could-not-run"]
EXIT_CODES: Mapping[Verdict, int] = {"agree": 0, "mismatch": 1, "could-not-run": 2}


@dataclass
class Curve:
    """The steps of one optimizer in one process.

    Attributes:
        optimizer: its class, with a number from the second one on: "Adam", "Adam 2".
        loss: the roots of the backward passes that led to each step, summed: with gradient
            accumulation, what the step minimises. A GradScaler's scale is not in it.
        learning_rate: of the first parameter group.
        gradient_norm: the 2-norm of all gradients at the step, after clipping.
        seconds: from the step before to this one; null for the first.
        skipped: indices of steps that a GradScaler skipped, for its gradients were not finite.
    """

    optimizer: str
    loss: list[float | None] = field(default_factory=list)
    learning_rate: list[float | None] = field(default_factory=list)
    gradient_norm: list[float | None] = field(default_factory=list)
    seconds: list[float | None] = field(default_factory=list)
    skipped: list[int] = field(default_factory=list)


@dataclass
class Placement:
    """Where the parameters of one optimizer are, and what became of them.

    Attributes:
        optimizer: as in `Curve`.
        parameters: how many tensors the optimizer holds that require gradients.
        elements: how many numbers those are.
        with_gradient: how many of the tensors ever had a gradient at a step.
        changed: how many of the tensors ever changed.
        elements_by_device: `elements` by device, such as {"npu:0": 1024}.
        state_by_device: numbers in the optimizer's state by device, without step counters.
        dtypes: of the parameters.
        untrained: parameters that the loss depends on and no optimizer of the process holds.
    """

    optimizer: str
    parameters: int = 0
    elements: int = 0
    with_gradient: int = 0
    changed: int = 0
    elements_by_device: dict[str, int] = field(default_factory=dict)
    state_by_device: dict[str, int] = field(default_factory=dict)
    dtypes: list[str] = field(default_factory=list)
    untrained: int = 0


@dataclass
class NonFinite:
    """The first loss or gradient norm of a process that is not finite; `step` counts from 0."""

    optimizer: str
    step: int
    what: Literal["loss", "gradient norm"]
    value: Literal["nan", "inf", "-inf"]


@dataclass
class Trapped:
    """Something of torch.cuda that the user's code reached where there is no CUDA.

    Attributes:
        kind: "cuda" for what does something, "asked" for `is_available` and `device_count`.
        path: the file, relative to the folder that was verified.
        line: counted from 1.
        name: what was called, such as "torch.cuda.empty_cache" or "device 'cuda'".
        ranks: in which ranks.
    """

    kind: Literal["cuda", "asked"]
    path: str
    line: int
    name: str
    ranks: list[int] = field(default_factory=list)


@dataclass
class Process:
    """A process that trained: one for each rank, after the last restart.

    Attributes:
        rank: its rank in the process group, or 0.
        stage: 0; counts on where the command trains several times, one after the other.
        device: the device of most parameters, such as "npu:0".
        device_name: as its driver says.
        peak_memory: the most bytes that were allocated on the device; null on the CPU.
        peak_host_memory: the most bytes of the process in the machine's memory.
        process_group: the backend of the default process group, such as "hccl"; null without one.
        autocast: dtypes of autocast regions that were entered for training.
        loss_scaled: whether a GradScaler scaled a loss.
        drew_on_device: whether the device's own random numbers were used; null where unknown.
        seed: of torch's random numbers on the CPU; differs from run to run where none is set.
        same_weights: a fingerprint of the parameters by optimizer and number of steps; equal where
            the parameters are.
        user_code: whether code under the folder was run.
        faults: what went wrong in watching; never the user's.
    """

    rank: int
    stage: int = 0
    pid: int = 0
    world_size: int = 1
    device: str | None = None
    device_name: str | None = None
    peak_memory: int | None = None
    peak_host_memory: int | None = None
    process_group: str | None = None
    autocast: list[str] = field(default_factory=list)
    loss_scaled: bool = False
    drew_on_device: bool | None = None
    seed: int | None = None
    same_weights: dict[str, str] = field(default_factory=dict)
    user_code: bool = False
    curves: list[Curve] = field(default_factory=list)
    placements: list[Placement] = field(default_factory=list)
    first_non_finite: NonFinite | None = None
    faults: list[str] = field(default_factory=list)

    @property
    def steps(self) -> int:
        """The steps of the optimizer that made the most."""
        return max((len(curve.loss) for curve in self.curves), default=0)


@dataclass
class Run:
    """The command on one backend.

    Attributes:
        backend: "cpu", "cuda", "npu", "cuda-emulated" or "npu-emulated".
        role: "port", or "reference" for what the ports are compared with.
        folder: where it was run.
        emulated: whether the device lives on the CPU: nothing is said of a real one's speed.
        reason: why the status isn't "trained", and what to do; empty otherwise.
        exit_code: the command's; negative for a signal; null if it never ended by itself.
        seconds: wall time of the whole command.
        restarts: how often a launcher started the processes anew.
        environment: versions and machine, by name.
        tail: the last lines of the command's output.
    """

    backend: str
    role: Literal["port", "reference"]
    folder: str
    emulated: bool = False
    status: Status = "unavailable"
    reason: str = ""
    exit_code: int | None = None
    seconds: float | None = None
    restarts: int = 0
    transfer_to_npu: bool = False
    environment: dict[str, str] = field(default_factory=dict)
    processes: list[Process] = field(default_factory=list)
    trapped: list[Trapped] = field(default_factory=list)
    tail: list[str] = field(default_factory=list)

    @property
    def device_type(self) -> str:
        """The type of device that is meant: "cpu", "cuda" or "npu"."""
        return self.backend.partition("-")[0]

    @property
    def name(self) -> str:
        """The run's name in tables and legends, unique in an outcome."""
        return f"{self.backend} (reference)" if self.role == "reference" else self.backend


@dataclass
class Finding:
    """Something to tell: an error makes the verdict a mismatch, a warning doesn't.

    Attributes:
        kind: a word of its own for each kind, such as "trained-on-cpu".
        run: the name of the run; None for the whole.
        rank, optimizer, step: where, if it is somewhere; steps count from 0.
        path, line: the place in the code, if there is one.
    """

    kind: str
    level: Level
    message: str
    run: str | None = None
    rank: int | None = None
    optimizer: str | None = None
    step: int | None = None
    path: str | None = None
    line: int | None = None


@dataclass
class Comparison:
    """A run beside the reference.

    Attributes:
        run, reference: the names of the runs.
        mode: "bits" (equal), "tolerance", or "trend", where random numbers are drawn on devices
            whose streams differ by nature; "none" where there was nothing to compare.
        rtol: the relative difference of losses that is allowed; null for bits and trend.
        dtype: the coarsest dtype of the two, which `rtol` follows from; null if it was given.
        steps: how many losses were compared.
        max_difference: the largest relative difference of a loss; null if none was compared.
        max_difference_step: the step where that is.
        first_difference_step: the first step that differs more than allowed.
        speed: steps per second of the run as a multiple of the reference's.
    """

    run: str
    reference: str
    mode: Literal["bits", "tolerance", "trend", "none"] = "none"
    rtol: float | None = None
    dtype: str | None = None
    steps: int = 0
    max_difference: float | None = None
    max_difference_step: int | None = None
    first_difference_step: int | None = None
    speed: float | None = None


@dataclass
class Outcome:
    """All of a verify run.

    Attributes:
        command: the command's words, as given.
        folder: what was verified, absolute.
        reference_folder: the folder of `--reference`, absolute; null where the CPU is compared.
        started: when, as ISO 8601 in UTC.
        step_limit: `--steps`.
        timeout: `--timeout` in seconds, for each run.
        verdict: "could-not-run" wins over "mismatch": an incomplete run is never "passed".
        exit_code: 0, 1 and 2 for "agree", "mismatch" and "could-not-run".
    """

    command: list[str]
    folder: str
    porter_version: str
    started: str
    reference_folder: str | None = None
    step_limit: int | None = None
    timeout: float | None = None
    runs: list[Run] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    verdict: Verdict = "could-not-run"

    @property
    def exit_code(self) -> int:
        """The exit code that the verdict stands for."""
        return EXIT_CODES[self.verdict]

    def to_json(self) -> dict[str, Any]:
        """Return the document: JSON types alone, without NaN and infinities."""
        document: dict[str, Any] = _strict(dataclasses.asdict(self))
        for run, entry in zip(self.runs, document["runs"], strict=True):
            entry["name"] = run.name
            entry["device_type"] = run.device_type
        return {"schema": SCHEMA, **document, "exit_code": self.exit_code}


def _strict(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _strict(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_strict(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
