"""The emulated device of this process, ``npu`` or ``cuda``; only for processes that have one."""

from __future__ import annotations

import torch

_accelerator = torch.accelerator.current_accelerator()
assert _accelerator is not None

DEVICE = _accelerator.type
NAME = DEVICE.upper()
module = torch.get_device_module(DEVICE)
process_group = {"npu": "hccl", "cuda": "nccl"}[DEVICE]
