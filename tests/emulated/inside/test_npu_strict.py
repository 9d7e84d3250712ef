"""Strict mode refuses what Ascend hardware refuses. Needs a process in strict mode."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn


def test_float64_arithmetic_is_refused() -> None:
    x = torch.ones(3, dtype=torch.float64, device="npu")
    cases: list[Callable[[], object]] = [
        lambda: x + 1,
        lambda: x @ x,
        lambda: x.mul_(2),
        lambda: nn.functional.softmax(x, 0),
    ]
    for work in cases:
        with pytest.raises(NotImplementedError, match="float64"):
            work()


def test_float64_can_be_moved_cast_and_read() -> None:
    x = torch.arange(3, dtype=torch.float64, device="npu")
    assert x.float().tolist() == [0, 1, 2]
    assert x.cpu().dtype == torch.float64
    assert x[1].item() == 1.0
    assert torch.cat([x, x]).shape == (6,)


def test_one_element_in_float64_computes_as_grad_scaler_needs() -> None:
    weight = nn.Parameter(torch.ones(3, device="npu"))
    optimizer = torch.optim.SGD([weight], lr=0.5)
    scaler = torch.amp.GradScaler("npu", init_scale=4.0)
    scaler.scale(weight.sum()).backward()  # type: ignore[no-untyped-call]
    scaler.step(optimizer)
    scaler.update()
    assert weight.tolist() == [0.5, 0.5, 0.5]


def test_fft_of_complex_input_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="FFT"):
        torch.fft.fft(torch.ones(4, dtype=torch.complex64, device="npu"))
