"""ASCEND_RT_VISIBLE_DEVICES cuts the devices down, read as torch_npu reads it. Needs four."""

from __future__ import annotations

import os

import torch

npu = torch.get_device_module("npu")

COUNTS = {
    "0,1,2,3": 4,
    "1,3": 2,
    "2": 1,
    "": 0,
    "3,1": 0,  # ids must ascend
    "1,1": 0,
    "0,7": 1,  # the list ends at the first id that isn't there
    "7": 0,
    "0,99999999999999999999": 1,
    "0,1x,2": 2,  # and at the first character that is neither digit nor comma
    "0,,1": 1,
    "x": 0,
}

assert npu.device_count() == 4
for visible, count in COUNTS.items():
    os.environ["ASCEND_RT_VISIBLE_DEVICES"] = visible
    assert npu.device_count() == torch.accelerator.device_count() == count, visible
    assert npu.is_available() == torch.accelerator.is_available() == (count > 0), visible
assert not npu.is_initialized()
print("done")
