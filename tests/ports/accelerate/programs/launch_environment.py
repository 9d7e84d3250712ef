"""Print which variables `accelerate launch --gpu_ids 1` gives to the processes that it starts."""

from __future__ import annotations

import json

from accelerate.commands.launch import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
    _validate_launch_command,
    launch_command_parser,
)
from accelerate.utils import launch  # type: ignore[import-not-found,import-untyped,unused-ignore]

NAMES = ("CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES", "ZE_AFFINITY_MASK")
ways = {
    "simple": (["--num_processes=1"], lambda args: launch.prepare_simple_launcher_cmd_env(args)[1]),
    "multi": (["--num_processes=2", "--multi_gpu"], launch.prepare_multi_gpu_env),
}
seen = {}
for name, (options, prepare) in ways.items():
    arguments = [*options, "--num_machines=1", "--main_process_port=0", "--gpu_ids=1,2", "train.py"]
    args, _, _ = _validate_launch_command(launch_command_parser().parse_args(arguments))
    environment = prepare(args)
    seen[name] = {key: environment[key] for key in NAMES if environment.get(key)}
print(json.dumps(seen))
