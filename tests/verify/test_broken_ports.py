"""Ports that are broken in one way each are caught, with the right words."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.verify.outcome import Outcome, Run
from tests.verify.conftest import findings, judged, train
from tests.verify.programs import PORT, broken

NPU = "if device.type == 'npu': "


def compared(program: str, reference: Run, folder: Path) -> Outcome:
    return judged(reference, train(folder / "port", program, "npu-emulated"))


def test_a_good_port_agrees(on_cpu: Run, tmp_path: Path) -> None:
    outcome = compared(PORT, on_cpu, tmp_path)
    assert outcome.verdict == "agree", outcome.findings
    assert outcome.findings == []
    run = outcome.runs[1]
    (process,) = run.processes
    (placement,) = process.placements
    assert process.device == "npu:0"
    assert "emulated" in str(process.device_name)
    assert (placement.parameters, placement.changed, placement.with_gradient) == (4, 4, 4)
    assert placement.elements_by_device == {"npu:0": 8 * 16 + 16 + 16 + 1}
    assert placement.state_by_device.keys() == {"npu:0"}
    (comparison,) = outcome.comparisons
    assert (comparison.mode, comparison.steps, comparison.dtype) == ("tolerance", 12, "float32")
    assert process.curves[0].loss == on_cpu.processes[0].curves[0].loss


STEP = "    optimizer.step()"
BACKWARD = "    loss.backward()"
BROKEN = {
    "trained-on-cpu": (
        [("torch.device(accel.device_type)", "torch.device('cpu')")],
        "it trained on cpu, silently: no parameter of Adam is on the npu",
    ),
    "stale-parameters": (
        [("model.parameters()", "__import__('copy').deepcopy(model).parameters()")],
        "Adam steps over stale parameters: no gradient ever reached 4 of its 4. The loss depends "
        "on 4 parameters that no optimizer has: was it made before the model was moved, or of a "
        "copy?",
    ),
    "unchanged": (
        [(STEP, f"    [p.grad.zero_() for p in model.parameters()]\n{STEP}")],
        "4 of 4 parameters of Adam never changed; 4 did in the reference",
    ),
    "non-finite": (
        [(BACKWARD, f"    {NPU}loss = loss * (float('nan') if step == 4 else 1)\n{BACKWARD}")],
        "the loss is nan at step 5 of Adam",
    ),
    "unscaled-float16": (
        [
            (
                "    loss = torch",
                "    with torch.autocast(device.type, torch.float16, device.type == 'npu'):\n"
                "     loss = torch",
            )
        ],
        "float16 without loss scaling: gradients below 6e-8 become 0. Use a GradScaler",
    ),
    "steps": (
        [("range(12)", "range(9 if device.type == 'npu' else 12)")],
        "9 steps of Adam, where cpu made 12",
    ),
    "loss": (
        [("targets)", "targets * (1.01 if device.type == 'npu' and step == 6 else 1))")],
        "the loss of step 7 is ",
    ),
    "learning-rate": (
        [("lr=1e-2", "lr=1e-2 if device.type == 'cpu' else 1.1e-2")],
        "the learning rate of step 1 is 0.011 where cpu has 0.01: 1.0e-01 off",
    ),
    "trap": (
        [(BACKWARD, f"    torch.cuda.empty_cache()\n{BACKWARD}")],
        "it still uses torch.cuda.empty_cache: that has to go through the shim",
    ),
}


QUICK = {"trained-on-cpu", "stale-parameters", "trap"}


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[] if kind in QUICK else [pytest.mark.slow]) for kind in BROKEN],
)
def test_a_broken_port_is_caught(kind: str, on_cpu: Run, tmp_path: Path) -> None:
    edits, message = BROKEN[kind]
    outcome = compared(broken(PORT, *edits), on_cpu, tmp_path)
    assert outcome.verdict == "mismatch", outcome
    assert outcome.exit_code == 1
    found = findings(outcome, kind)
    assert found, outcome.findings
    assert found[0].level == "error"
    assert found[0].message.startswith(message)
    assert found[0].run == "npu-emulated"


def test_one_cuda_call_that_was_left_is_named_with_its_place(on_cpu: Run, tmp_path: Path) -> None:
    """It raises there; that it does is the port's fault, and not that nothing could be run."""
    outcome = compared(broken(PORT, ("model.to(device)", "model.cuda()")), on_cpu, tmp_path)
    assert outcome.verdict == "mismatch"
    assert outcome.runs[1].status == "crashed"
    (finding,) = findings(outcome, "trap")
    assert (finding.path, finding.line) == ("train.py", 10)
    assert finding.message == "it still uses torch.nn.Module.cuda: that has to go through the shim"


def test_a_cuda_device_whose_error_is_swallowed_is_named(on_cpu: Run, tmp_path: Path) -> None:
    swallowed = "try:\n    model.to('cuda')\nexcept Exception:\n    model.to('cpu')\n"
    program = broken(
        PORT, ("model.to(device)\n", swallowed), ("x.to(device), y.to(device)", "x, y")
    )
    outcome = compared(program, on_cpu, tmp_path)
    assert [f.kind for f in outcome.findings if f.level == "error"] == ["trap", "trained-on-cpu"]
    (finding,) = findings(outcome, "trap")
    assert (finding.path, finding.line) == ("train.py", 11)
    assert "device 'cuda'" in finding.message


def test_asking_for_cuda_is_a_class_of_its_own(on_cpu: Run, tmp_path: Path) -> None:
    asks = "print(torch.cuda.is_available(), torch.cuda.device_count())\nfor step in"
    outcome = compared(broken(PORT, ("for step in", asks)), on_cpu, tmp_path)
    assert outcome.verdict == "agree"
    assert [(f.kind, f.level) for f in outcome.findings] == [("asked", "warning")] * 2
    assert {trapped.kind for trapped in outcome.runs[1].trapped} == {"asked"}
