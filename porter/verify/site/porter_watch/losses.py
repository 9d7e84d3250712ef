"""The losses: the roots of backward passes, whoever calls backward."""

from __future__ import annotations

import functools
import weakref
from typing import Any, Dict, List, Optional, Set, Tuple

import torch

from .budget import Budget
from .fingerprint import local
from .journal import Journal

_WALKS = 4
"""Backward passes whose graph is searched for parameters: a GAN's two losses, and accumulation."""


class Losses:
    """Keeps the losses until a step takes them.

    Attributes:
        scaled: whether a GradScaler has scaled a loss.
    """

    def __init__(self, journal: Journal, budget: Budget) -> None:
        self._note_roots = budget.counted(journal.guarded(self._roots))
        self._note_scaled = journal.guarded(self._remember_scaled)
        self.forget()

    def forget(self) -> None:
        """Begin anew, as a forked process does."""
        self.scaled = False
        self._pending: List[torch.Tensor] = []
        self._unscaled: Dict[int, Tuple[Any, torch.Tensor]] = {}
        self._scale: Optional[torch.Tensor] = None
        self._walks = 0
        self._leaves: List[Any] = []

    def install(self) -> None:
        """Wrap `torch.autograd.backward`, which `Tensor.backward` calls, and each GradScaler."""
        original = torch.autograd.backward
        note_roots = self._note_roots

        @functools.wraps(original)
        def backward(*args: Any, **kwargs: Any) -> Any:
            # Reentrant checkpointing runs backward inside of backward: not on a loss.
            if torch._C._current_graph_task_id() == -1:
                note_roots(args[0] if args else kwargs.get("tensors"))
            return original(*args, **kwargs)

        backward._torchdynamo_disable = True  # type: ignore[attr-defined]
        torch.autograd.backward = backward

    def count(self) -> int:
        """Return how many losses wait for a step."""
        return len(self._pending)

    def take(self, before_step: int) -> List[torch.Tensor]:
        """Return the losses that led to a step, and forget all.

        Args:
            before_step: how many there were when the step began. A closure adds its own; where it
                is called several times, as LBFGS does, the first one is the loss at the step.
        """
        taken = self._pending[: before_step + 1] if before_step < self.count() else self._pending
        self._pending = []
        return taken

    def untrained(self, trained: Set[int]) -> int:
        """Count the parameters that losses depend on and whose ids aren't given."""
        alive = (reference() for reference in self._leaves)
        return sum(1 for leaf in alive if leaf is not None and id(leaf) not in trained)

    def watch_scaler(self, kind: type) -> None:
        """Wrap the `scale` that a class of scalers defines."""
        original: Any = vars(kind)["scale"]
        note_scaled = self._note_scaled

        @functools.wraps(original)
        def scale(scaler: Any, outputs: Any) -> Any:
            result = original(scaler, outputs)
            note_scaled(scaler, outputs, result)
            return result

        setattr(kind, "scale", scale)  # noqa: B010 - mypy knows no such attribute of a type

    def _remember_scaled(self, scaler: Any, outputs: Any, result: Any) -> None:
        if not scaler.is_enabled() or not isinstance(outputs, torch.Tensor):
            return
        self.scaled = True
        self._scale = scaler._scale
        self._unscaled[id(result)] = (weakref.ref(result), outputs.detach())

    def _roots(self, tensors: Any) -> None:
        roots = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
        # What has more elements than one is handed on between the stages of a pipeline.
        found = [self._loss(root) for root in roots if root.numel() == 1]
        if found:
            # A copy: a replayed graph overwrites the original, and the user may add to it.
            with torch.no_grad():
                self._pending.append(sum(found[1:], found[0]).reshape(()).clone())
        if self._walks < _WALKS:
            self._walks += 1
            self._walk(roots)
        self._unscaled.clear()
        self._scale = None

    def _loss(self, root: torch.Tensor) -> torch.Tensor:
        reference, unscaled = self._unscaled.get(id(root), (None, None))
        if reference is not None and unscaled is not None and reference() is root:
            return local(unscaled)  # type: ignore[no-any-return]
        loss: torch.Tensor = local(root.detach())
        if self._scale is not None:  # scaled, and then divided or added to
            with torch.no_grad():
                loss = loss / self._scale.to(loss.device, non_blocking=True)
        return loss

    def _walk(self, roots: List[torch.Tensor]) -> None:
        """Collect the parameters at the ends of the graph."""
        known = {id(reference()) for reference in self._leaves}
        todo = [root.grad_fn for root in roots if root.grad_fn is not None]
        seen = set(todo)
        while todo:
            node = todo.pop()
            leaf = getattr(node, "variable", None)
            if isinstance(leaf, torch.nn.Parameter) and id(leaf) not in known:
                known.add(id(leaf))
                self._leaves.append(weakref.ref(leaf))
            for following, _ in node.next_functions:
                if following is not None and following not in seen:
                    seen.add(following)
                    todo.append(following)
