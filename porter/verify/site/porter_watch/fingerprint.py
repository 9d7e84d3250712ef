"""Whether parameters change, and whether they are the same in two processes."""

from __future__ import annotations

import array
import itertools
import zlib
from typing import Any, Dict, List, Tuple

import torch

_SAMPLE = 256
"""How many numbers of a parameter are looked at one by one; beside them its sum is."""

Print = Tuple[float, ...]


def local(tensor: Any) -> Any:
    """Return the part of a distributed tensor that is here, and other tensors as they are."""
    to_local = getattr(tensor, "to_local", None)
    return tensor if to_local is None else to_local()


def values(tensors: List[torch.Tensor]) -> List[float]:
    """Return tensors of one number each as floats, with one transfer for each device and dtype."""
    groups: Dict[Any, List[int]] = {}
    for index, tensor in enumerate(tensors):
        groups.setdefault((tensor.device, tensor.dtype), []).append(index)
    result = [0.0] * len(tensors)
    for indices in groups.values():
        together = torch.stack([tensors[index].reshape(()) for index in indices])
        for index, value in zip(indices, together.cpu().double().tolist()):  # noqa: B905 - 3.8
            result[index] = value
    return result


def prints(parameters: List[Any]) -> List[Print]:
    """Return what tells each parameter's value from another: some of its numbers, and their sum.

    A copy would double the memory. Optimizers that change single rows of a large table show in the
    sum where they don't in the sample.
    """
    samples, sums = [], []
    for parameter in parameters:
        flat = _flat(parameter)
        samples.append(flat[:: max(1, flat.numel() // _SAMPLE)][:_SAMPLE])
        sums.append(flat.sum(dtype=None if flat.dtype == torch.float64 else torch.float32))
    taken = _taken(samples)
    return [(total, *sample) for total, sample in zip(values(sums), taken)]  # noqa: B905 - 3.8


def digest(all_prints: List[Print]) -> str:
    """Return a short text that differs where the parameters do, in whatever process."""
    numbers = array.array("d", itertools.chain.from_iterable(all_prints))
    return f"{zlib.crc32(numbers.tobytes()):08x}"


def _flat(parameter: Any) -> torch.Tensor:
    tensor: torch.Tensor = local(parameter.detach())
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    return tensor.reshape(-1)


def _taken(samples: List[torch.Tensor]) -> List[List[float]]:
    groups: Dict[Any, List[int]] = {}
    for index, sample in enumerate(samples):
        groups.setdefault((sample.device, sample.dtype), []).append(index)
    result: List[List[float]] = [[] for _ in samples]
    for indices in groups.values():
        together = torch.cat([samples[index] for index in indices]).cpu().double().tolist()
        start = 0
        for index in indices:
            count = samples[index].numel()
            result[index] = together[start : start + count]
            start += count
    return result
