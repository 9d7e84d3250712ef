"""Accelerators and numbers of GPUs that files of configuration name."""

from __future__ import annotations

import re

from porter.configs.rule import Answer, Manual, Note, config_rule
from porter.configs.subjects import Setting

_COUNT = re.compile(
    r"(?:n|num|number_of|visible)?_?gpus?(?:_ids?|_num|_count|_list)?(?:_per_(?:node|task|worker))?"
    r"|gpuids?"
)
_NUMBERS = re.compile(r"all|auto|-?\d+(?:\s*,\s*\d+)*|\$\{?\w+\}?")
_TRAINER = re.compile(r"(?:.*_)?(?:trainer|fabric|lightning|pl)(?:_.*)?", re.IGNORECASE)
_PLATFORMS = frozenset({"docker", "pbs", "salloc", "sbatch", "srun"})
_REQUESTS = frozenset({"limits", "requests", "resources"})


@config_rule(
    "PTR802",
    on=Setting,
    manual=[
        ("trainer.yaml", "trainer:\n  accelerator: gpu\n  devices: 2\n"),
        ("trainer.yaml", "accelerator: cuda\n"),
        ("trainer.yaml", "trainer:\n  gpus: 2\n"),
        ("train.sh", "python train.py trainer.accelerator=gpu trainer.devices=8\n"),
    ],
    notes=[
        ("accelerate.yaml", "gpu_ids: all\nnum_processes: 2\n"),
        ("train.yaml", "gpu_ids: [0, 1]\n"),
        ("train.sh", "python train.py --gpus 8\n"),
    ],
    valid=[
        ("trainer.yaml", "trainer:\n  accelerator: auto  # or gpu\n"),
        ("trainer.yaml", "trainer:\n  gpus: 0\n"),
        ("data.yaml", "gpus: [Tesla V100, GTX 1080]\n"),
    ],
)
def config_accelerator(setting: Setting) -> Answer:
    """Point out Lightning's `accelerator: gpu` and `gpus:`, and note other numbers of GPUs.

    To Lightning "gpu" and "cuda" mean CUDA. Stock Lightning has no NPU: "npu" is no name to it,
    and "auto" picks the CPU there without a word, so nothing is written in their place. Register
    an Accelerator class, and give its name in a copy of the file for Ascend.

    Elsewhere `gpu_ids: [0, 1]` or `num_gpus: 8` count or number devices. Ported code takes them
    for the accelerators at hand, whatever the key is called: noted, and left.
    """
    if setting.program in _PLATFORMS or not _REQUESTS.isdisjoint(setting.keys):
        return None  # asked of a platform, not of the program
    value = setting.value.strip().lower()
    if setting.key == "accelerator" and value in ("gpu", "cuda"):
        return _by_hand(f"accelerator: {setting.value}")
    if not _COUNT.fullmatch(setting.key) or not _NUMBERS.fullmatch(value) or value == "0":
        return None
    if setting.key == "gpus" and any(map(_TRAINER.fullmatch, setting.keys[:-1])):
        return _by_hand("gpus:")
    return Note(
        f"`{setting.written}` counts or numbers devices, which to ported code are accelerators"
    )


def _by_hand(what: str) -> Manual:
    return Manual(
        f"{what} means CUDA to Lightning, and stock Lightning has no NPU: register an Accelerator "
        "class for it, and give its name in a copy of this file for Ascend"
    )
