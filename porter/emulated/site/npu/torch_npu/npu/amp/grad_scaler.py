"""`GradScaler` with torch_npu's argument order, whose fifth is `dynamic`."""

from __future__ import annotations

from typing import Any

import torch


class GradScaler(torch.amp.GradScaler):
    """torch's GradScaler on npu; with ``dynamic=False`` the scale stays as it is."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        dynamic: bool = True,
        enabled: bool = True,
    ) -> None:
        super().__init__(
            "npu", init_scale, growth_factor, backoff_factor, growth_interval, enabled=enabled
        )
        self._dynamic = dynamic

    def update(self, new_scale: float | torch.Tensor | None = None) -> None:
        """Updates the scale, unless it is static and no new one is given."""
        if not self._enabled:
            return
        scale, _ = self._check_scale_growth_tracker("update")
        super().update(scale.clone() if new_scale is None and not self._dynamic else new_scale)

    def state_dict(self) -> dict[str, Any]:
        """Returns torch's state with ``dynamic`` in it; empty when disabled."""
        state = super().state_dict()
        return {**state, "dynamic": self._dynamic} if self._enabled else state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restores a state that this class saved."""
        super().load_state_dict(state_dict)
        if self._enabled:
            self._dynamic = state_dict["dynamic"]
