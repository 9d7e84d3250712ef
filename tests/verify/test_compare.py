"""Comparison of runs that were made up."""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Sequence

import pytest

from porter.verify.outcome import Curve, Outcome, Placement, Process, Run, Trapped
from porter.verify.trend import trend
from porter.verify.verify import judge

Losses = Sequence[float | None]


def run(backend: str, losses: Losses, **fields: object) -> Run:
    kind = backend.partition("-")[0]
    device = "cpu" if kind == "cpu" else f"{kind}:0"
    count = len(losses)
    curve = Curve("Adam", list(losses), [0.1] * count, [1.0] * count, [None] + [0.1] * (count - 1))
    placement = Placement("Adam", 2, 9, 2, 2, {device: 9}, {device: 18}, ["float32"])
    process = Process(0, device=device, curves=[curve], placements=[placement], user_code=True)
    for name, value in fields.items():
        setattr(process, name, value)
    return Run(backend, "port", "/port", status="trained", exit_code=0, processes=[process])


def outcome(*runs: Run, rtol: float | None = None) -> Outcome:
    result = Outcome(["python", "train.py"], "/port", "0", "", runs=list(runs))
    judge(result, rtol)
    return result


FALLING = [2.0 * 0.9**step for step in range(40)]


def off(by: float, step: int = 20) -> list[float]:
    return [loss * (1 + by) if n == step else loss for n, loss in enumerate(FALLING)]


def test_rounding_is_allowed_and_more_is_not() -> None:
    assert outcome(run("cpu", FALLING), run("npu", off(5e-4))).verdict == "agree"
    result = outcome(run("cpu", FALLING), run("npu", off(2e-2)))
    assert result.verdict == "mismatch"
    (comparison,) = result.comparisons
    assert (comparison.mode, comparison.rtol) == ("tolerance", 1e-3)
    assert comparison.first_difference_step == comparison.max_difference_step == 20
    (finding,) = result.findings
    assert (finding.kind, finding.step, finding.optimizer) == ("loss", 20, "Adam")
    assert "the loss of step 21 is 0.2480" in finding.message


def test_a_loss_near_zero_is_measured_by_the_whole_curve() -> None:
    crossing = [math.cos(step / 5) for step in range(40)]
    close = [loss + 1e-4 for loss in crossing]
    assert outcome(run("cpu", crossing), run("npu", close)).verdict == "agree"


@pytest.mark.parametrize(
    ("dtype", "rtol"), [("float32", 1e-3), ("float16", 2e-2), ("bfloat16", 5e-2)]
)
def test_the_coarsest_dtype_decides(dtype: str, rtol: float) -> None:
    npu = run("npu", off(0.8 * rtol), autocast=[dtype], loss_scaled=True)
    result = outcome(run("cpu", FALLING), npu)
    assert (result.comparisons[0].rtol, result.comparisons[0].dtype) == (rtol, dtype)
    assert result.verdict == "agree"


def test_a_given_tolerance_wins() -> None:
    runs = [run("cpu", FALLING), run("npu", off(0.1, step=0), autocast=["bfloat16"])]
    assert outcome(*runs, rtol=0.2).verdict == "agree"
    assert outcome(*runs, rtol=0.05).verdict == "mismatch"


@pytest.mark.parametrize("backend", ["cuda", "cuda-emulated"])
def test_on_cuda_the_original_is_equal_bit_for_bit(backend: str) -> None:
    original = run(backend, FALLING)
    original.role = "reference"
    assert outcome(original, run(backend, FALLING)).verdict == "agree"
    one_bit = [math.nextafter(loss, 3) if n == 30 else loss for n, loss in enumerate(FALLING)]
    result = outcome(original, run(backend, one_bit))
    assert result.verdict == "mismatch"
    assert result.comparisons[0].mode == "bits"
    assert "they have to be equal bit for bit" in result.findings[0].message


def test_gradients_and_learning_rates_are_compared() -> None:
    npu = run("npu", FALLING)
    npu.processes[0].curves[0].gradient_norm[3] = 1.5
    npu.processes[0].curves[0].learning_rate[7] = 0.11
    result = outcome(run("cpu", FALLING), npu)
    assert [(f.kind, f.level, f.step) for f in result.findings] == [
        ("learning-rate", "error", 7),
        ("gradient-norm", "warning", 3),
    ]


def noisy(fall: float, seed: int) -> list[float]:
    draw = random.Random(seed)
    return [3 - fall * step / 40 + draw.gauss(0, 0.1) for step in range(40)]


def test_a_trend_is_compared_where_random_numbers_must_differ() -> None:
    drew = {"drew_on_device": True}
    good = outcome(run("cpu", noisy(1, 1)), run("npu", noisy(1, 2), **drew))
    assert (good.verdict, good.comparisons[0].mode) == ("agree", "trend")
    assert "random numbers were drawn on the device" in good.findings[0].message
    bad = outcome(run("cpu", noisy(1, 1)), run("npu", noisy(0, 2), **drew))
    assert bad.verdict == "mismatch"
    assert "the loss falls by" in bad.findings[-1].message
    assert "where cpu's falls by" in bad.findings[-1].message


def test_a_program_without_a_seed_is_told_so() -> None:
    runs = [run("cpu", noisy(1, 1), seed=1), run("npu", noisy(1, 2), seed=2)]
    result = outcome(*runs)
    assert result.comparisons[0].mode == "trend"
    assert "Give it a seed" in result.findings[0].message


def test_skipped_steps_that_differ_leave_the_trend() -> None:
    npu = run("npu", noisy(1, 1), loss_scaled=True)
    npu.processes[0].curves[0].skipped = [0, 1]
    assert outcome(run("cpu", noisy(1, 1)), npu).comparisons[0].mode == "trend"


def test_too_few_steps_for_a_trend_are_told() -> None:
    finding = trend([1.0, 2.0], [1.0, 2.0], "cpu")
    assert finding is not None
    assert finding.level == "warning"


@pytest.mark.parametrize("seed", range(5))
def test_trends_with_much_noise_do_not_cry_wolf(seed: int) -> None:
    assert trend(noisy(0, seed), noisy(0, seed + 100), "cpu") is None
    assert trend(noisy(1, seed), noisy(1, seed + 100), "cpu") is None
    assert trend(noisy(0, seed), noisy(1.5, seed + 100), "cpu") is not None


def test_fewer_parameters_that_change_than_in_the_reference() -> None:
    npu = run("npu", FALLING)
    npu.processes[0].placements[0].changed = 1
    (finding,) = outcome(run("cpu", FALLING), npu).findings
    assert finding.message == "1 of 2 parameters of Adam never changed; 2 did in the reference"


def test_a_reference_that_trained_elsewhere_is_none() -> None:
    original = run("cuda", FALLING, device="cpu")
    original.role = "reference"
    original.processes[0].placements[0].elements_by_device = {"cpu": 9}
    result = outcome(original, run("npu", FALLING))
    assert result.verdict == "mismatch"
    assert (result.findings[0].kind, result.findings[0].run) == (
        "trained-on-cpu",
        "cuda (reference)",
    )


def test_what_all_ranks_say_is_told_once() -> None:
    npu = run("npu", FALLING, device="cpu")
    npu.processes[0].placements[0].elements_by_device = {"cpu": 9}
    npu.processes.append(copy.deepcopy(npu.processes[0]))
    npu.processes[1].rank = 1
    cpu = run("cpu", FALLING)
    cpu.processes.append(copy.deepcopy(cpu.processes[0]))
    cpu.processes[1].rank = 1
    assert [finding.kind for finding in outcome(cpu, npu).findings] == ["trained-on-cpu"]


def test_losses_that_nobody_saw_are_not_passed_over() -> None:
    silent = [run(backend, [None] * 5) for backend in ("cpu", "npu")]
    kinds = [(finding.kind, finding.level) for finding in outcome(*silent).findings]
    assert ("not-compared", "warning") in kinds


def test_parameters_partly_elsewhere() -> None:
    npu = run("npu", FALLING)
    npu.processes[0].placements[0].elements_by_device = {"npu:0": 6, "cpu": 3}
    result = outcome(run("cpu", FALLING), npu)
    assert result.verdict == "agree"
    assert result.findings[0].message.startswith(
        "only 67% of the parameters of Adam are on the npu"
    )
    original = run("cuda", FALLING)
    original.role = "reference"
    assert outcome(original, npu).verdict == "mismatch"


def test_the_same_nan_in_the_reference_is_no_fault_of_the_port() -> None:
    from porter.verify.outcome import NonFinite

    first = NonFinite("Adam", 3, "loss", "nan")
    losses = [1.0, 1.0, 1.0, math.nan]
    runs = [run(backend, losses, first_non_finite=first) for backend in ("cpu", "npu")]
    levels = {finding.run: finding.level for finding in outcome(*runs).findings}
    assert levels == {"cpu": "error", "npu": "warning"}


def test_a_crash_that_cuda_explains_is_a_mismatch_and_another_is_not() -> None:
    npu = run("npu", FALLING[:3])
    npu.status, npu.reason = "crashed", "it ended with exit code 1"
    assert outcome(run("cpu", FALLING), npu).exit_code == 2
    npu.trapped = [Trapped("asked", "train.py", 3, "torch.cuda.is_available")]
    assert outcome(run("cpu", FALLING), npu).exit_code == 2
    npu.trapped.append(Trapped("cuda", "train.py", 4, "torch.Tensor.cuda"))
    assert outcome(run("cpu", FALLING), npu).exit_code == 1


def test_an_incomplete_run_is_never_passed() -> None:
    for status in ("unavailable", "not-found", "no-steps", "timeout", "interrupted", "other-code"):
        npu = run("npu", [])
        npu.processes = []
        npu.status = status
        result = outcome(run("cpu", FALLING), npu)
        assert (result.verdict, result.exit_code) == ("could-not-run", 2)


def test_the_document_is_strict_json() -> None:
    losses = [1.0, math.inf, math.nan]
    document = outcome(run("cpu", losses), run("npu", losses)).to_json()
    text = json.dumps(document, allow_nan=False)
    assert document["runs"][0]["processes"][0]["curves"][0]["loss"] == [1.0, None, None]
    assert json.loads(text)["schema"] == 1
    assert [entry["name"] for entry in document["runs"]] == ["cpu", "npu"]
