"""Large inputs: what is too deep is told, and the effort grows no faster than the input."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable

import pytest

from porter.engine import rewrite_source
from porter.model import Level

DEEP = {
    "a sum": b"x = " + b" + ".join([b"y.cuda()"] * 400) + b"\n",
    "lambdas": b"x = " + b"lambda: " * 500 + b"y.cuda()\n",
    "elif": b"if a: pass\n" + b"elif torch.cuda.is_available(): x.cuda()\n" * 400,
}


@pytest.mark.parametrize("data", DEEP.values(), ids=DEEP.keys())
def test_what_is_deep_is_ported_or_told(data: bytes) -> None:
    result = rewrite_source(data)
    errors = [finding for finding in result.findings if finding.level is Level.ERROR]
    if errors:
        assert result.output is data
        assert "deep" in errors[0].message
    else:
        assert b".cuda()" not in result.output


def statements(count: int) -> bytes:
    return b"import torch\n" + b"y = y.cuda()\n" * count


def one_expression(count: int) -> bytes:
    return b"x = [" + b"y.cuda(), " * count + b"]\n"


def one_line(count: int) -> bytes:
    return b"import torch; " + b"x.cuda(); " * count + b"\n"


def names(count: int) -> bytes:
    return b"import torch\n" + b"".join(
        # Fragments that were seen before would cost less.
        b"v%d_%d = torch.cuda.device_count() + %d\n" % (count, number, count + number)
        for number in range(count)
    )


def one_sum(count: int) -> bytes:
    return b"x = " + b" + ".join([b"y.cuda()"] * count) + b"\n"


def one_ladder(count: int) -> bytes:
    return b"if a: pass\n" + b"elif torch.cuda.is_available(): x.cuda()\n" * count


SHAPES = [statements, one_expression, one_line, names, one_sum]


@pytest.mark.parametrize("shape", [*SHAPES, one_ladder], ids=lambda shape: shape.__name__)
def test_memory_grows_with_the_input(shape: Callable[[int], bytes]) -> None:
    rewrite_source(shape(2))
    small, large = (peak(shape(count)) for count in (250, 1000))
    assert large < 4 * small * 1.6


def peak(data: bytes) -> int:
    """Return the most bytes that Python held for the port at one time."""
    tracemalloc.start()
    try:
        rewrite_source(data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_the_number_of_calls_grows_with_the_input(shape: Callable[[int], bytes]) -> None:
    small, large = (calls(shape(count)) for count in (200, 800))
    assert large < 4 * small * 1.3


def calls(data: bytes) -> int:
    """Return how many functions were called for the port, those of the interpreter too."""
    count = 0

    def profile(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(profile)
    try:
        rewrite_source(data)
    finally:
        sys.setprofile(None)
    return count
