"""The steps of optimizers: loss, learning rate, gradient norm and time of each."""

from __future__ import annotations

import functools
import time
import weakref
from typing import Any, Callable, Dict, List, NamedTuple, Optional

import torch
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from .budget import Budget
from .fingerprint import local, values
from .journal import Journal
from .losses import Losses
from .placement import Held

_PATIENCE, _PATIENCE_ON_CPU = 1.0, 0.05
"""Seconds between two times of writing; what wasn't written gets lost if the process is killed.
Reading from a device waits for it, and stalls its queue."""
_WAITING = 512
"""Steps that wait to be read, at most."""
_ALWAYS = 32
"""Steps at the beginning whose gradient norm is taken whatever it costs."""
_OPTIMIZERS = 16
"""Optimizers that are told apart; of more, those of one class count as one."""

_FOREACH = ("cpu", "cuda")
"""Devices that take the norms of many tensors in one call; elsewhere it may be emulated."""


class _Step(NamedTuple):
    optimizer: str
    losses: List[torch.Tensor]
    learning_rate: Any
    norm: Optional[torch.Tensor]
    divisor: Optional[torch.Tensor]
    seconds: Optional[float]
    skipped: bool


class Steps:
    """Follows each optimizer; `at_mark` is called after steps 1, 2, 4, 8, ... of one.

    Attributes:
        held: what is known of the parameters of each optimizer, by name.
    """

    def __init__(
        self,
        journal: Journal,
        budget: Budget,
        losses: Losses,
        limit: int,
        at_mark: Callable[[], None],
    ) -> None:
        self._journal = journal
        self._budget = budget
        self._losses = losses
        self._limit = limit
        self._at_mark = journal.guarded(at_mark)
        self._before = budget.counted(journal.guarded(self._before_step))
        self._after = budget.counted(journal.guarded(self._after_step))
        self.flush = journal.guarded(self._flush)
        self.forget()

    def forget(self) -> None:
        """Begin anew, as a forked process does."""
        self.held: Dict[str, Held] = {}
        self._names: Any = weakref.WeakKeyDictionary()
        self._counts: Dict[str, int] = {}
        self._last: Dict[str, float] = {}
        self._waiting: List[_Step] = []
        self._flushed = time.perf_counter()
        self._pending_losses = 0
        self._latest: List[torch.Tensor] = []
        self._users_of_latest: List[str] = []
        self._norm: Optional[torch.Tensor] = None
        self._total = 0

    def install(self) -> None:
        """Register with every optimizer that there is and will be."""

        def before(optimizer: Any, args: Any, kwargs: Any) -> None:
            self._before(optimizer)

        def after(optimizer: Any, args: Any, kwargs: Any) -> None:
            self._after(optimizer)
            self._stop_at_limit()

        for hook in (before, after):
            hook._torchdynamo_disable = True  # type: ignore[attr-defined]
        register_optimizer_step_pre_hook(before)
        register_optimizer_step_post_hook(after)

    def watch_scaler(self, kind: type) -> None:
        """Wrap the `step` that a class of scalers defines: it may skip the optimizer's."""
        original: Any = vars(kind)["step"]

        @functools.wraps(original)
        def step(scaler: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            total = self._total
            result = original(scaler, optimizer, *args, **kwargs)
            if self._total == total and scaler.is_enabled():
                self._after(optimizer, skipped=True)
                self._stop_at_limit()
            return result

        setattr(kind, "step", step)  # noqa: B010 - mypy knows no such attribute of a type

    def _before_step(self, optimizer: Any) -> None:
        held = self._held(optimizer)
        if self._total < _ALWAYS or self._budget.allows():
            self._norm = _gradient_norm(held.note_gradients())
        else:
            held.note_gradients()
        self._pending_losses = self._losses.count()

    def _after_step(self, optimizer: Any, skipped: bool = False) -> None:
        now = time.perf_counter()
        name = self._name(optimizer)
        if skipped:
            self._held(optimizer)
            self._pending_losses = self._losses.count()
        last, self._last[name] = self._last.get(name), now
        group = optimizer.param_groups[0] if optimizer.param_groups else {}
        self._waiting.append(
            _Step(
                name,
                self._loss(name),
                group.get("lr"),
                self._norm,
                getattr(optimizer, "grad_scale", None),  # a fused optimizer unscales by itself
                None if last is None else now - last,
                skipped,
            )
        )
        self._norm = None
        self._total += 1
        self._counts[name] = count = self._counts.get(name, 0) + 1
        if count & (count - 1) == 0:
            self._flush()
            if not skipped:
                self.held[name].check(count)
            self._at_mark()
        elif self._is_time(now):
            self._flush()

    def _loss(self, name: str) -> List[torch.Tensor]:
        """Return the losses of a step: those since the last one, be it another optimizer's."""
        losses = self._losses.take(self._pending_losses)
        if losses:
            self._latest, self._users_of_latest = losses, [name]
        elif name in self._users_of_latest:
            return []
        else:  # one backward pass for several optimizers
            self._users_of_latest.append(name)
        return self._latest

    def _held(self, optimizer: Any) -> Held:
        name = self._name(optimizer)
        held = self.held.get(name)
        if held is None or not held.is_of(optimizer):
            self.held[name] = held = Held(name, optimizer)
        return held

    def _name(self, optimizer: Any) -> str:
        name = self._names.get(optimizer)
        if name is None:
            kind = type(optimizer).__name__
            taken = set(self._counts)
            name, number = kind, 1
            while name in taken and len(taken) < _OPTIMIZERS:
                number += 1
                name = f"{kind} {number}"
            self._names[optimizer] = name
            self._counts.setdefault(name, 0)
        return str(name)

    def _is_time(self, now: float) -> bool:
        on_cpu = all(loss.is_cpu for loss in self._waiting[-1].losses)
        patience = _PATIENCE_ON_CPU if on_cpu else _PATIENCE
        return len(self._waiting) >= _WAITING or now - self._flushed > patience

    def _flush(self) -> None:
        """Read the waiting steps from their device and write them down."""
        waiting, self._waiting = self._waiting, []
        self._flushed = time.perf_counter()
        if not waiting:
            return
        tensors: List[torch.Tensor] = []
        for step in waiting:
            tensors += step.losses
            tensors += [t for t in (step.norm, step.divisor) if t is not None]
            if isinstance(step.learning_rate, torch.Tensor):
                tensors.append(step.learning_rate)
        numbers = iter(values(tensors))
        rows = []
        for step in waiting:
            losses = [next(numbers) for _ in step.losses]
            norm = None if step.norm is None else next(numbers)
            divisor = None if step.divisor is None else next(numbers)
            rate = step.learning_rate
            if isinstance(rate, torch.Tensor):
                rate = next(numbers)
            if norm is not None and divisor:
                norm /= divisor
            rows.append(
                {
                    "optimizer": step.optimizer,
                    "loss": sum(losses) if losses else None,
                    "lr": rate if isinstance(rate, (int, float)) else None,
                    "norm": norm,
                    "seconds": step.seconds,
                    "skipped": step.skipped,
                }
            )
        self._journal.write("steps", rows=rows)

    def _stop_at_limit(self) -> None:
        if not self._limit or not self._counts:
            return
        counts = self._counts.values()
        if min(counts) >= self._limit or max(counts) > self._limit:
            self.flush()
            self._at_mark()
            self._journal.write("stopped")
            raise SystemExit(0)


def _wide(dtype: torch.dtype) -> Optional[torch.dtype]:
    """Return the dtype to add in where a number's own would overflow."""
    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else None


def _gradient_norm(gradients: List[Any]) -> Optional[torch.Tensor]:
    """Return the 2-norm of all gradients together; None without any, or with sparse ones."""
    tensors = [local(gradient) for gradient in gradients]
    if not tensors or any(tensor.is_sparse for tensor in tensors):
        return None
    with torch.no_grad():
        if all(t.dtype == torch.float32 and t.device.type in _FOREACH for t in tensors):
            norms = list(torch._foreach_norm(tensors))
        else:
            norms = [torch.linalg.vector_norm(t, dtype=_wide(t.dtype)) for t in tensors]
        first = norms[0]
        together = torch.stack([norm.to(first.device, first.dtype) for norm in norms])
        total: torch.Tensor = torch.linalg.vector_norm(together)
        return total
