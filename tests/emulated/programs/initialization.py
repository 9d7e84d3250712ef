"""Only the use of a device initializes the runtime, and freezes how many there are."""

from __future__ import annotations

import os

import torch
import torch.distributed as dist

npu = torch.get_device_module("npu")

assert not npu.is_initialized()
torch.manual_seed(7)
npu.manual_seed_all(7)
torch.nn.Linear(2, 2)
assert npu.is_available()
assert npu.memory_allocated() == 0
npu.empty_cache()
assert dist.is_hccl_available()  # type: ignore[attr-defined]
torch.autocast("npu", dtype=torch.float16)
assert not npu.is_initialized()

os.environ["EMULATED_NPU_DEVICES"] = "3"
assert npu.device_count() == 3
values = torch.randn(3, device="npu")
assert npu.is_initialized()
os.environ["EMULATED_NPU_DEVICES"] = "5"
assert npu.device_count() == 3

npu.manual_seed(7)
assert torch.equal(torch.randn(3, device="npu"), values)
print("done")
