"""NCCL inside one process, as ``torch.cuda.nccl`` and DataParallel's gradients use it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

_SUM = 0


def _sum(inputs: Sequence[Tensor], op: int, device: Any) -> Tensor:
    if op != _SUM:
        raise NotImplementedError("torch.cuda.nccl on an emulated CUDA can only sum")
    total = inputs[0].to(device)
    for each in inputs[1:]:
        total = total + each.to(device)
    return total


def _reduce(
    inputs: Sequence[Tensor], output: Tensor, root: int, op: int, streams: Any, comms: Any
) -> None:
    output.copy_(_sum(inputs, op, output.device))


def _all_reduce(
    inputs: Sequence[Tensor], outputs: Sequence[Tensor], op: int, streams: Any, comms: Any
) -> None:
    total = _sum(inputs, op, inputs[0].device)
    for output in outputs:
        output.copy_(total)


NAMES: dict[str, Any] = {
    "_nccl_version": lambda: 2 << 32 | 27 << 16 | 3,
    "_nccl_version_suffix": lambda: b"emulated",
    "_nccl_reduce": _reduce,
    "_nccl_all_reduce": _all_reduce,
}
