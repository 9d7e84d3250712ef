"""Backends of torch.distributed that files of configuration name."""

from __future__ import annotations

import re

from porter.configs.rule import Answer, Manual, config_rule
from porter.configs.subjects import Setting

_NCCL = re.compile(r"nccl|(?:cpu:\w+,)?cuda:nccl(?:,cpu:\w+)?", re.IGNORECASE)
_KEY = re.compile(r"(?:.*_)?(?:backend|backend_name|dist|comm|communication|process_group)(?:_.*)?")


@config_rule(
    "PTR803",
    on=Setting,
    manual=[
        ("runtime.yaml", "env_cfg:\n  dist_cfg:\n    backend: nccl\n"),
        ("train.yaml", "dist_backend: 'nccl'\n"),
        ("train.yaml", "process_group_backend: cpu:gloo,cuda:nccl\n"),
        ("config.toml", '[dist]\nbackend = "nccl"\n'),
        (
            "deepspeed.json",
            '{"optimizer": {"type": "Adam", "params": {"comm_backend_name": "nccl"}}}\n',
        ),
        ("train.sh", "python main.py --dist-backend nccl --multiprocessing-distributed\n"),
    ],
    valid=[
        ("train.yaml", "backend: gloo  # not nccl\n"),
        ("train.yaml", "name: nccl\n"),
        ("train.yaml", "backend: ${backend}  # nccl\n"),
    ],
)
def config_backend(setting: Setting) -> Answer:
    """Point out `backend: nccl`, which needs CUDA.

    Ported code names its backend by `accel.dist_backend()`: nccl, hccl or gloo. A value that
    comes from a file overrides that, so a run on NPU or CPU fails in `init_process_group`. Leave
    the key out where the code that reads it then takes its own default, or write "hccl" in a copy
    of the file for Ascend. It isn't rewritten: what a missing or empty value means to the program
    isn't known here, and torch's own default for none also sets up gloo, on CUDA too.
    """
    if not _NCCL.fullmatch(setting.value) or not _KEY.fullmatch(setting.key):
        return None
    return Manual(
        f'{setting.key}: "{setting.value}" needs CUDA: leave it out where the ported code then '
        'takes accel.dist_backend(), or write "hccl" in a copy for Ascend'
    )
