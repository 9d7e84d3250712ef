"""Print what each of Accelerate's collectives answers on every rank, as one line of JSON."""

from __future__ import annotations

import json

import torch
from accelerate import Accelerator  # type: ignore[import-not-found,import-untyped,unused-ignore]
from accelerate.utils import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
    broadcast,
    broadcast_object_list,
    gather,
    gather_object,
    pad_across_processes,
    reduce,
)

accelerator = Accelerator()
rank = accelerator.process_index
mine = torch.tensor([1.0, 2.0], device=accelerator.device) + 10 * rank
ragged = torch.ones(rank + 1, device=accelerator.device)
answers = {
    "device": str(accelerator.device),
    "backend": torch.distributed.get_backend(),
    "gather": gather(mine).tolist(),
    "gather_object": gather_object([rank]),
    "broadcast": broadcast(mine.clone(), from_process=1).tolist(),
    "broadcast_object_list": broadcast_object_list([f"of {rank}"], from_process=1),
    "reduce": reduce(mine, "mean").tolist(),
    "pad": pad_across_processes(ragged).tolist(),
}
everyone = gather_object([answers])
accelerator.print(json.dumps(everyone))
torch.distributed.destroy_process_group()
