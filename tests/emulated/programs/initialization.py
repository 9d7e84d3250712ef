"""Only the use of a device initializes the runtime, and freezes how many there are."""

from __future__ import annotations

import os

import torch
import torch.distributed as dist

from tests.emulated.device import DEVICE, NAME, module, process_group

assert not module.is_initialized()
torch.manual_seed(7)
module.manual_seed_all(7)
torch.nn.Linear(2, 2)
assert module.is_available()
assert module.memory_allocated() == 0
module.empty_cache()
assert getattr(dist, f"is_{process_group}_available")()
torch.autocast(DEVICE, dtype=torch.float16)
assert not module.is_initialized()

os.environ[f"EMULATED_{NAME}_DEVICES"] = "3"
assert module.device_count() == 3
values = torch.randn(3, device=DEVICE)
assert module.is_initialized()
os.environ[f"EMULATED_{NAME}_DEVICES"] = "5"
assert module.device_count() == 3

module.manual_seed(7)
assert torch.equal(torch.randn(3, device=DEVICE), values)
print("done")
