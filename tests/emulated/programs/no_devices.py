"""Without devices nothing claims that a device is there."""

from __future__ import annotations

import pytest
import torch

from tests.emulated.device import DEVICE, NAME, module

assert not module.is_available()
assert not torch.accelerator.is_available()
assert torch.accelerator.current_accelerator(check_available=True) is None
torch.manual_seed(1)
module.manual_seed_all(1)
assert module.memory_allocated() == 0
with pytest.raises(RuntimeError, match=f"No emulated {NAME} device is visible"):
    module.init()
with pytest.raises(RuntimeError, match="emulated"):
    torch.ones(1, device=DEVICE)
with pytest.raises(RuntimeError, match="emulated"):
    torch.ones(1).to(DEVICE)
print("done")
