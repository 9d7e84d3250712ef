"""The parameters of an optimizer: where they are, and whether they get gradients and change."""

from __future__ import annotations

import weakref
from typing import Any, Dict, List, Optional, Set

import torch

from .fingerprint import Print, digest, local, prints


class Held:
    """What is known of the parameters that one optimizer holds.

    Attributes:
        digests: a text for all parameters, by the number of steps made.
    """

    def __init__(self, name: str, optimizer: Any) -> None:
        self.name = name
        self.digests: Dict[int, str] = {}
        self._optimizer = weakref.ref(optimizer)
        self._with_gradient: Set[int] = set()
        self._changed: Set[int] = set()
        self._first: Dict[int, Print] = {}
        self._last: Optional[Dict[str, Any]] = None
        self._remember(self._parameters())

    def is_of(self, optimizer: Any) -> bool:
        """Tell whether it is about this very optimizer."""
        return self._optimizer() is optimizer

    def note_gradients(self) -> List[torch.Tensor]:
        """Return the gradients that are there, and remember which parameters have one."""
        parameters = self._parameters()
        with_gradient = [each for each in parameters if each.grad is not None]
        self._with_gradient.update(map(id, with_gradient))
        return [parameter.grad for parameter in with_gradient]

    def check(self, count: int) -> None:
        """See what has changed after a number of steps."""
        parameters = self._parameters()
        self._remember([each for each in parameters if id(each) not in self._first])
        now = prints(parameters)
        self.digests[count] = digest(now)
        for parameter, print_now in zip(parameters, now):  # noqa: B905 - Python 3.8
            if print_now != self._first[id(parameter)]:
                self._changed.add(id(parameter))

    def ids(self) -> Set[int]:
        """Return the ids of the parameters."""
        return {id(parameter) for parameter in self._parameters()}

    def describe(self) -> Dict[str, Any]:
        """Return the fields of porter's `Placement`; the last ones known where it is gone."""
        optimizer = self._optimizer()
        if optimizer is None and self._last is not None:
            return self._last
        parameters = self._parameters()
        by_device: Dict[str, int] = {}
        for parameter in parameters:
            _add(by_device, local(parameter.detach()))
        state_by_device: Dict[str, int] = {}
        for state in list(optimizer.state.values()) if optimizer is not None else ():
            for value in state.values() if isinstance(state, dict) else ():
                if isinstance(value, torch.Tensor) and value.numel() > 1:
                    _add(state_by_device, local(value.detach()))
        self._last = {
            "optimizer": self.name,
            "parameters": len(parameters),
            "elements": sum(by_device.values()),
            "with_gradient": len(self._with_gradient),
            "changed": len(self._changed),
            "elements_by_device": by_device,
            "state_by_device": state_by_device,
            "dtypes": sorted({str(p.dtype).replace("torch.", "") for p in parameters}),
        }
        return self._last

    def _parameters(self) -> List[Any]:
        optimizer = self._optimizer()
        groups = [] if optimizer is None else optimizer.param_groups
        return [
            parameter
            for group in groups
            for parameter in group["params"]
            if parameter.requires_grad
        ]

    def _remember(self, parameters: List[Any]) -> None:
        if parameters:
            for parameter, value in zip(parameters, prints(parameters)):  # noqa: B905 - Python 3.8
                self._first[id(parameter)] = value


def _add(by_device: Dict[str, int], tensor: torch.Tensor) -> None:
    device = str(tensor.device)
    by_device[device] = by_device.get(device, 0) + tensor.numel()
