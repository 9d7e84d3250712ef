"""Runs the command on each backend, compares, and gives the verdict."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import porter
from porter.errors import Refused
from porter.verify import backends, checks, compare
from porter.verify.outcome import COMPLETE, Finding, Outcome, Run, Verdict
from porter.verify.runner import Plan, Watcher, execute


@dataclass(frozen=True)
class Request:
    """What is asked of a verify run; see the command's options.

    Attributes:
        path: the folder, or the one file, whose code is verified.
        backends: empty for every real accelerator and the CPU.
    """

    path: Path
    command: Sequence[str]
    backends: Sequence[str] = ()
    reference: Path | None = None
    reference_backend: str | None = None
    steps: int | None = None
    rtol: float | None = None
    timeout: float | None = None
    devices: int = 1


def verify(request: Request, watcher: Watcher) -> Outcome:
    """Run the command once for each backend, the reference first.

    Ctrl-C ends the run that is on and leaves the others out: `Run.status` says so.

    Args:
        request: what to do.
        watcher: called some times a second with the run that is on, what its processes have
            written, and the seconds since it began.

    Raises:
        Refused: there is nothing to run it on.
    """
    outcome = Outcome(
        command=list(request.command),
        folder=str(_folder(request.path).resolve()),
        porter_version=porter.__version__,
        started=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        reference_folder=str(request.reference.resolve()) if request.reference else None,
        step_limit=request.steps,
        timeout=request.timeout,
    )
    machine = _machine(request)
    outcome.runs = _planned(request, machine)
    try:
        for run in outcome.runs:
            _run(run, request, machine, watcher)
    except KeyboardInterrupt:
        for run in outcome.runs:
            if run.status == "unavailable" and not run.reason:
                run.status, run.reason = "interrupted", "porter was interrupted before it"
    judge(outcome, request.rtol)
    return outcome


def judge(outcome: Outcome, rtol: float | None) -> None:
    """Compare the runs of an outcome and fill in comparisons, findings and verdict."""
    reference = outcome.runs[0]
    for run in outcome.runs:
        if run.status not in COMPLETE:
            outcome.findings.append(Finding(run.status, "error", run.reason, run.name))
        if run.role == "port":
            before = reference if run is not reference else None
            outcome.findings += checks.check(run, before)
        else:
            outcome.findings += checks.check_reference(run)
        if run is not reference and run.processes:
            comparison, found = compare.compare(run, reference, rtol)
            outcome.comparisons.append(comparison)
            outcome.findings += found
    if len(outcome.runs) == 1:
        outcome.findings.append(
            Finding("alone", "note", "nothing was compared: the CPU ran alone", reference.name)
        )
    outcome.findings = _without_repeats(outcome.findings)
    outcome.verdict = _verdict(outcome)


def _without_repeats(findings: Sequence[Finding]) -> list[Finding]:
    """Leave out what is the same in several ranks."""
    return list({(f.kind, f.run, f.message, f.path, f.line): f for f in findings[::-1]}.values())[
        ::-1
    ]


def _verdict(outcome: Outcome) -> Verdict:
    for run in outcome.runs:
        told = run.status == "crashed" and any(t.kind == "cuda" for t in run.trapped)
        if run.status not in COMPLETE and not told:
            return "could-not-run"
    errors = any(finding.level == "error" for finding in outcome.findings)
    return "mismatch" if errors else "agree"


def _machine(request: Request) -> backends.Machine | None:
    """Look for real accelerators where it matters, for that takes torch's import."""
    asked = {*request.backends, request.reference_backend}
    reference_is_open = request.reference is not None and not asked & {"cuda", "cuda-emulated"}
    if not request.backends or asked & {"cuda", "npu"} or reference_is_open:
        return backends.look(backends.interpreter(request.command))
    return None


def _planned(request: Request, machine: backends.Machine | None) -> list[Run]:
    """Return the runs to be made, the reference first."""
    wanted = list(dict.fromkeys(request.backends))
    accelerators = machine.accelerators() if machine else []
    if not wanted:
        if not accelerators and request.reference is None:
            raise Refused(
                "there is no accelerator here, and the CPU is not compared with itself: "
                "--backend npu-emulated tries the port without one"
            )
        wanted = [*accelerators, "cpu"]
    if request.reference is not None:
        backend = request.reference_backend or _for_reference(wanted, accelerators)
        first = Run(backend, "reference", str(request.reference.resolve()))
    else:
        wanted = ["cpu", *(backend for backend in wanted if backend != "cpu")]
        first = Run(wanted.pop(0), "port", str(_folder(request.path).resolve()))
    ports = [Run(backend, "port", str(_folder(request.path).resolve())) for backend in wanted]
    return [first, *ports]


def _for_reference(wanted: Sequence[str], accelerators: Sequence[str]) -> str:
    """Return where an original that knows CUDA alone is run: on CUDA, or what comes nearest."""
    for backend in ("cuda", "cuda-emulated"):
        if backend in wanted:
            return backend
    return "cuda" if "cuda" in accelerators else "cuda-emulated"


def _run(run: Run, request: Request, machine: backends.Machine | None, watcher: Watcher) -> None:
    run.emulated = run.backend.endswith("-emulated")
    run.environment["platform"] = platform.platform()
    try:
        env = backends.environment(run.backend, request.devices, machine)
    except backends.Unavailable as error:
        run.reason = str(error)
        return
    root, command = request.path, list(request.command)
    if run.role == "reference" and request.reference is not None:
        move = _Move(request.path, request.reference)
        root, command = request.reference, [move.word(word) for word in command]
        if "PYTHONPATH" in env:
            env["PYTHONPATH"] = os.pathsep.join(
                move.path(entry) for entry in env["PYTHONPATH"].split(os.pathsep)
            )
    plan = Plan(
        command=command,
        folder=_folder(root),
        root=root,
        environment=env,
        trap=run.role == "port" and run.device_type != "cuda",
        steps=request.steps,
        timeout=request.timeout,
    )
    execute(plan, run, watcher)


def _folder(path: Path) -> Path:
    return path if path.is_dir() else path.parent


class _Move:
    """Turns paths into the port into those of the reference: else the port would run again."""

    def __init__(self, port: Path, reference: Path) -> None:
        self._port = _folder(port).resolve()
        self._reference = _folder(reference).resolve()

    def path(self, text: str) -> str:
        """Return an absolute path as it is in the reference; others as they are."""
        path = Path(text)
        if not path.is_absolute() or not path.resolve().is_relative_to(self._port):
            return text
        return str(self._reference / path.resolve().relative_to(self._port))

    def word(self, text: str) -> str:
        """Do so for a word of the command: a path, or an option with one."""
        before, equals, after = text.rpartition("=")
        return before + equals + self.path(after)
