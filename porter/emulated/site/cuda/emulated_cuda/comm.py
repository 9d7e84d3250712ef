"""Tensors to and from several devices of one process, as DataParallel moves them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


def _device(index: int) -> torch.device:
    return torch.device("cuda", index) if index >= 0 else torch.device("cpu")


def _broadcast(tensor: Tensor, devices: Sequence[int]) -> list[Tensor]:
    return [tensor.to(_device(index), non_blocking=True) for index in devices]


def _broadcast_coalesced(
    tensors: Sequence[Tensor], devices: Sequence[int], buffer_size: int
) -> list[list[Tensor]]:
    return [
        [tensor.to(_device(index), non_blocking=True) for tensor in tensors] for index in devices
    ]


def _scatter(
    tensor: Tensor,
    devices: Sequence[int],
    chunk_sizes: list[int] | None,
    dim: int,
    streams: Sequence[Any] | None,
) -> list[Tensor]:
    if chunk_sizes:
        chunks = torch.split(tensor, chunk_sizes, dim)
    else:
        chunks = torch.chunk(tensor, len(devices), dim)
    return [
        chunk.to(_device(index), non_blocking=True)
        for chunk, index in zip(chunks, devices, strict=False)
    ]


def _gather(tensors: Sequence[Tensor], dim: int, destination: int | None) -> Tensor:
    index = torch.cuda.current_device() if destination is None else destination
    return torch.cat([tensor.to(_device(index), non_blocking=True) for tensor in tensors], dim)


NAMES: dict[str, Any] = {
    "_broadcast": _broadcast,
    "_broadcast_coalesced": _broadcast_coalesced,
    "_scatter": _scatter,
    "_gather": _gather,
}
