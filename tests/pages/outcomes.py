"""Outcomes of verify, made for the tests with its own types."""

from __future__ import annotations

import math
from typing import Any

from porter.verify.outcome import (
    Comparison,
    Curve,
    Finding,
    Outcome,
    Placement,
    Process,
    Run,
    Trapped,
)

STEPS = 40


def losses(start: float = 2.5, off_from: int = STEPS, by: float = 0.0) -> list[float | None]:
    """A falling loss, relatively off by something from a step on."""
    return [start * math.exp(-step / 20) * (1 + by * (step >= off_from)) for step in range(STEPS)]


def process(
    device: str, loss: list[float | None], rank: int = 0, second: list[float | None] | None = None
) -> Process:
    """A process that trained for as many steps as there are losses, maybe with two optimizers."""
    return Process(
        rank,
        world_size=2,
        device=device,
        device_name=device,
        peak_memory=None if device == "cpu" else 5_000_000,
        peak_host_memory=400_000_000,
        process_group="gloo" if device == "cpu" else "hccl",
        curves=[
            Curve(name, values, [1e-3] * STEPS, [1.0] * STEPS, [None, *[0.05] * (STEPS - 1)], [7])
            for name, values in (("Adam", loss), ("Adam 2", second))
            if values
        ],
        placements=[
            Placement("Adam", 12, 5000, 12, 12, {device: 5000}, {device: 10_000}, ["float32"])
        ],
    )


def run(backend: str, *processes: Process, **more: Any) -> Run:
    """A run that went well, unless `more` says otherwise."""
    fields: dict[str, Any] = {
        "role": "port",
        "folder": "/home/me/repo",
        "emulated": backend.endswith("-emulated"),
        "status": "trained",
        "exit_code": 0,
        "seconds": 12.5,
        "environment": {"python": "3.11.7", "torch": "2.13.0"},
        "processes": list(processes),
    }
    return Run(backend, **{**fields, **more})


def outcome(*runs: Run, **more: Any) -> dict[str, Any]:
    """The document of an outcome."""
    fields: dict[str, Any] = {
        "command": ["torchrun", "--nproc-per-node=2", "train.py", "--name", "my run"],
        "folder": "/home/me/repo",
        "porter_version": "0.1.0",
        "started": "2025-11-30T22:58:00+00:00",
        "runs": list(runs),
    }
    return Outcome(**{**fields, **more}).to_json()


def agreeing() -> dict[str, Any]:
    """Two runs with the same losses."""
    return outcome(
        run("cpu", process("cpu", losses())),
        run("npu-emulated", process("npu:0", losses())),
        comparisons=[
            Comparison(
                "npu-emulated", "cpu", "tolerance", 1e-3, "float32", STEPS, 0.0, 0, None, 1.4
            )
        ],
        verdict="agree",
    )


def mismatch() -> dict[str, Any]:
    """Two ranks and two optimizers, the port off from step 12 on; CUDA reached; one not there."""
    return outcome(
        run("cpu", *(process("cpu", losses(), rank, losses(5.0)) for rank in (0, 1))),
        run(
            "npu-emulated",
            *(process(f"npu:{rank}", losses(2.5, 11, 0.02), rank, losses(5.0)) for rank in (0, 1)),
            environment={"python": "3.11.7", "torch": "2.12.0"},
            trapped=[
                Trapped("cuda", "train.py", 41, "torch.cuda.empty_cache", [0, 1]),
                Trapped("asked", "lib/a.py", 7, "torch.cuda.is_available", [0]),
            ],
        ),
        run(
            "cuda",
            status="unavailable",
            reason="torch sees no CUDA device",
            exit_code=None,
            seconds=None,
            environment={},
        ),
        comparisons=[
            Comparison("npu-emulated", "cpu", "tolerance", 1e-3, "float32", 160, 0.02, 17, 11, 0.4)
        ],
        findings=[
            Finding("loss-differs", "error", "the loss differs", "npu-emulated", 0, "Adam", 11),
            Finding("trap", "error", "it calls CUDA", "npu-emulated", path="train.py", line=41),
            Finding("speed", "note", "half as fast"),
        ],
        verdict="mismatch",
    )


def crashed(text: str = "ImportError: no") -> dict[str, Any]:
    """A run that never trained; `text` stands wherever the user's program could put one."""
    return outcome(
        run(
            "npu",
            status="crashed",
            reason=text,
            exit_code=1,
            tail=["Traceback", text],
            trapped=[Trapped("cuda", text, 1, text, [0])],
            environment={text: text},
        ),
        command=["python", text],
        folder=f"/home/{text.replace('/', '')}",
        findings=[Finding("crashed", "error", text, "npu", path=text, line=3)],
    )
