"""Look for a batch size that fits into the device's memory, as Accelerate does it."""

from __future__ import annotations

import torch
from accelerate import Accelerator  # type: ignore[import-not-found,import-untyped,unused-ignore]
from accelerate.utils import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
    find_executable_batch_size,
)

accelerator = Accelerator()


@find_executable_batch_size(starting_batch_size=64)  # type: ignore[untyped-decorator,unused-ignore]
def train(batch_size: int) -> tuple[int, str]:
    print(f"trying {batch_size}", flush=True)
    model = accelerator.prepare(torch.nn.Linear(1 << 16, 1))
    batch = torch.ones(batch_size, 1 << 16).to(accelerator.device)  # 1/4 MB a row
    accelerator.backward(model(batch).sum())
    return batch_size, batch.device.type


print("found", *train())
