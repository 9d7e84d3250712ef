"""The vendor's variable cuts the devices down, read as the vendor reads it. Needs four devices."""

from __future__ import annotations

import os

import torch

from tests.emulated.device import DEVICE, module

VARIABLE = {"npu": "ASCEND_RT_VISIBLE_DEVICES", "cuda": "CUDA_VISIBLE_DEVICES"}[DEVICE]
COUNTS = {
    "0,1,2,3": 4,
    "1,3": 2,
    "2": 1,
    "": 0,
    "1,1": 0,
    "0,7": 1,  # the list ends at the first id that isn't there
    "7": 0,
    "0,99999999999999999999": 1,
    "0,,1": 1,
    "x": 0,
}
OWN_COUNTS = {
    "npu": {
        "3,1": 0,  # ids must ascend
        "0,1x,2": 2,  # the list ends at the first character that is neither digit nor comma
    },
    "cuda": {
        "3,1": 2,
        "1, 2": 2,
        "-1": 0,
        "0,-1,1": 1,
        "0,1,0": 0,
    },
}

assert module.device_count() == 4
for visible, count in {**COUNTS, **OWN_COUNTS[DEVICE]}.items():
    os.environ[VARIABLE] = visible
    assert module.device_count() == torch.accelerator.device_count() == count, visible
    assert module.is_available() == torch.accelerator.is_available() == (count > 0), visible
assert not module.is_initialized()
print("done")
