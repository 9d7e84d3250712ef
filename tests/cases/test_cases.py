"""Ports that went wrong elsewhere (reports/, D..) and code that invites it (traps/, T..).

Each case stands there with its variants in names, nesting, aliases and arguments. What they say of
run time is in test_run_time.py, what they say of bytes in test_bytes.py, and what they say of
configuration, notebooks and runs (D38, T61, D56) in test_other_files.py. To other tests belong

- D37 (a plugin that is missing or broken): tests/runtime/test_choice.py;
- D52 and D53 (baselines, partly staged files): the tests of `porter check`;
- T57 (import cycles of a vendored shim): tests/vendor/test_vendor.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases.harness import Case, cases

FILES = sorted(Path(__file__).parent.glob("*/*.md"))
CASES = [pytest.param(case, id=case.name) for file in FILES for case in cases(file)]


@pytest.mark.parametrize("case", CASES)
def test_case(case: Case) -> None:
    case.check()


def test_every_report_and_trap_has_cases() -> None:
    elsewhere = {"D37", "D38", "D52", "D53", "D56", "T57", "T61"}
    bytewise = {"D48", "D49", "D50", "D51", "T58", "T59", "T60"}
    names = {f"D{n:02}" for n in range(1, 60)} | {f"T{n:02}" for n in range(1, 75)}
    assert {str(case.id).split()[0] for case in CASES} == names - elsewhere - bytewise
