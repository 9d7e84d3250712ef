from __future__ import annotations

from typing import Any

import pytest

from porter.doctor import Section, State, device
from porter.doctor.asking import Answer
from porter.doctor.probing import Said

TORCH = {"version": "2.5.1+cpu", "cuda": None}
NPU = {"version": "2.5.1.post1", "file": "/torch_npu/__init__.py"}


def examine(
    npus: int = 0, gpus: int = 0, dying: str = "", /, **facts: dict[str, Any]
) -> dict[str, tuple[State, str, str]]:
    said = Said({"torch": TORCH, **facts}, dying, Answer(failure="ended by signal 11 (SIGSEGV)"))
    section: Section = device.examine(said, {}, npus, gpus)
    return {entry.name: (entry.state, entry.text, entry.mend) for entry in section.entries}


def chosen(backend: str, count: int, **more: Any) -> dict[str, Any]:
    return {"backend": backend, "count": count, "log": [], "warnings": [], **more}


def test_a_device_that_works() -> None:
    judged = examine(2, 0, torch_npu=NPU, shim=chosen("npu", 2), use={"sum": 8.0})
    assert {state for state, _, _ in judged.values()} == {State.OK}
    assert judged["choice"][1] == "npu, since torch sees 2 of its devices"


@pytest.mark.parametrize(
    ("facts", "dying", "name", "text"),
    [
        ({"use": {"error": "RuntimeError: 507899"}}, "", "first use", "npu:0 fails: RuntimeError"),
        ({"use": {"sum": 0.0}}, "", "first use", "makes 0.0 on npu:0"),
        ({}, "use", "first use", "the process ended by signal 11"),
    ],
    ids=["raises", "computes zeros", "dies"],
)
def test_a_device_that_does_not_work(
    facts: dict[str, Any], dying: str, name: str, text: str
) -> None:
    state, said, mend = examine(1, 0, dying, torch_npu=NPU, shim=chosen("npu", 1), **facts)[name]
    assert state is State.PROBLEM
    assert text in said
    assert mend


def test_a_shim_that_dies_or_raises() -> None:
    assert examine(0, 0, "shim")["choice"][:2] == (
        State.PROBLEM,
        "the process ended by signal 11 (SIGSEGV)",
    )
    assert examine(shim={"error": "BackendUnavailable: no"})["choice"][0] is State.PROBLEM


@pytest.mark.parametrize(
    ("backend", "count", "text"),
    [("npu", 1, "npu-smi shows 2, and torch_npu sees 1"), ("cpu", 0, "and torch_npu sees none")],
)
def test_fewer_npus_than_the_driver_shows(backend: str, count: int, text: str) -> None:
    judged = examine(2, 0, torch_npu=NPU, shim=chosen(backend, count), use={"sum": 8})
    assert judged["NPUs"][0] is State.PROBLEM
    assert text in judged["NPUs"][1]


def test_a_torch_for_which_there_is_no_torch_npu() -> None:
    torch = {"version": "2.5.0", "cuda": None}
    _, _, mend = examine(1, 0, torch=torch, shim=chosen("cpu", 0))["NPUs"]
    assert mend.startswith("there is no torch_npu for torch 2.5.0: pip install torch==2.")


def test_gpus_that_torch_cannot_see() -> None:
    assert examine(0, 1, shim=chosen("cpu", 0))["GPUs"][0] is State.PROBLEM
    assert "GPUs" not in examine(0, 1, shim=chosen("cuda", 1), use={"sum": 8})


def test_what_the_shim_passed_over() -> None:
    shim = chosen("cpu", 0, warnings=["cuda is installed but could not be started"])
    assert examine(shim=shim)["passed over"][0] is State.PROBLEM
    failed = {"error": "ImportError"}
    assert "passed over" not in examine(torch_npu=failed, shim=shim)  # said of torch_npu already


def test_memory_that_cannot_be_told_is_no_problem() -> None:
    judged = examine(shim=chosen("cuda", 1), use={"sum": 8}, memory={"error": "RuntimeError: x"})
    assert judged["memory"][0] is State.NOTE
    judged = examine(
        shim=chosen("cuda", 1), use={"sum": 8}, memory={"devices": [[1 << 30, 2 << 30]]}
    )
    assert judged["cuda:0"][1] == "1024 of 2048 MB free"
