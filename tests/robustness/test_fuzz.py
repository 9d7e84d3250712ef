"""The engine under fuzzing: some seconds of it always, minutes of it when slow tests are asked for.

`fuzz.py` runs as long as one likes, also over folders of real projects.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.robustness.mutation import Mutator
from tests.robustness.oracle import compiles, faults
from tests.robustness.seeds import FIXTURES, examples, pieces

SOURCES = examples() + pieces([FIXTURES])
SCRIPT = Path(__file__).with_name("fuzz.py")


def test_mutations_leave_programs_and_others() -> None:
    """A fuzzer that makes nothing but syntax errors finds nothing."""
    mutator = Mutator(SOURCES, seed=1)
    made = [mutator.next() for _ in range(500)]
    programs = sum(compiles(data, only_parse=True) for data in made)
    assert 150 < programs < 450
    assert len(set(made)) > 450
    assert made == [again.next() for again in [Mutator(SOURCES, seed=1)] for _ in range(500)]


@settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.sampled_from(SOURCES), st.lists(st.integers(0, 2**32), min_size=1, max_size=4))
def test_mutated_sources(source: bytes, seeds: list[int]) -> None:
    for seed in seeds:
        mutator = MUTATORS[seed % len(MUTATORS)]
        mutator.random.seed(seed)
        source = mutator.mutate(source)
    assert list(faults(source)) == []


MUTATORS = [Mutator(SOURCES[at::7], seed=at) for at in range(7)]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.binary(max_size=300), st.sampled_from(SOURCES), st.integers(0, 4000))
def test_any_bytes_in_a_source(data: bytes, source: bytes, at: int) -> None:
    assert list(faults(source[:at] + data + source[at:])) == []


@pytest.mark.parametrize(
    ("engine", "runs"),
    [
        ([], 1_000),
        (["--atheris"], 1_500),
        pytest.param(["--seed=7"], 50_000, marks=pytest.mark.slow),
        pytest.param(["--atheris", "--seed=7"], 40_000, marks=pytest.mark.slow),
    ],
    ids=["random", "atheris", "random, long", "atheris, long"],
)
def test_the_fuzzer_finds_no_fault(engine: list[str], runs: int) -> None:
    if "--atheris" in engine:
        pytest.importorskip("atheris", reason="needs atheris: pip install atheris")
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--runs", str(runs), *engine],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{runs} inputs" in done.stdout
