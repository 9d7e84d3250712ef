"""A process forked after first use can't use the device; one forked before can."""

from __future__ import annotations

import multiprocessing
from typing import Any

import torch

from tests.emulated.device import DEVICE, NAME, module


def use(results: Any, tensor: torch.Tensor | None) -> None:
    answers = [f"initialized {module.is_initialized()}"]
    for work in (
        lambda: torch.ones(2, device=DEVICE),
        lambda: torch.ones(2).to(DEVICE),
        lambda: module.current_device(),
        lambda: tensor + 1 if tensor is not None else None,
        lambda: tensor.cpu() if tensor is not None else None,
    ):
        try:
            work()
            answers.append("works")
        except RuntimeError as error:
            answers.append(str(error))
    torch.manual_seed(1)  # as a DataLoader's worker does: no error
    results.put(answers)


def answers_of_a_fork(tensor: torch.Tensor | None) -> list[str]:
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    child = context.Process(target=use, args=(results, tensor))
    child.start()
    answers: list[str] = results.get(timeout=60)
    child.join()
    return answers


before = answers_of_a_fork(None)
assert before == ["initialized False", "works", "works", "works", "works", "works"], before
tensor = torch.ones(2, device=DEVICE)
first, *rest = answers_of_a_fork(tensor)
assert first == "initialized False"
for answer in rest:
    assert f"Cannot re-initialize {NAME} in forked subprocess" in answer, rest
assert (tensor + 1).tolist() == [2, 2]
print("done")
