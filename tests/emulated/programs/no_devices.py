"""Without devices nothing claims that an NPU is there."""

from __future__ import annotations

import pytest
import torch

npu = torch.get_device_module("npu")

assert not npu.is_available()
assert not torch.accelerator.is_available()
assert torch.accelerator.current_accelerator(check_available=True) is None
torch.manual_seed(1)
npu.manual_seed_all(1)
assert npu.memory_allocated() == 0
with pytest.raises(RuntimeError, match="No emulated NPU is visible"):
    npu.init()
with pytest.raises(RuntimeError, match="emulated"):
    torch.ones(1, device="npu")
with pytest.raises(RuntimeError, match="emulated"):
    torch.ones(1).to("npu")
print("done")
