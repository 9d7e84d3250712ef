"""What containers and batch systems are asked for."""

from __future__ import annotations

import re

from porter.configs.rule import Answer, Manual, config_rule
from porter.configs.subjects import Setting

_BATCH = frozenset({"bsub", "pbs", "salloc", "sbatch", "srun"})
_ASKED = frozenset({"limits", "requests", "resources"})
_GPUS = re.compile(r"gpus?(?:_per_(?:node|task|socket))?|num_gpus")


@config_rule(
    "PTR812",
    on=Setting,
    manual=[
        ("run.sh", "docker run --rm --gpus all -it image/name:1 python train.py\n"),
        ("run.sh", "docker run --runtime=nvidia image/name:1\n"),
        ("compose.yaml", "services:\n  train:\n    runtime: nvidia\n"),
        (
            "compose.yaml",
            "deploy:\n  resources:\n    reservations:\n      devices:\n        - driver: nvidia\n",
        ),
        ("pod.yaml", "resources:\n  limits:\n    nvidia.com/gpu: 1\n"),
        ("job.slurm", "#!/bin/bash\n#SBATCH --gres=gpu:4\n#SBATCH --nodes=1\nsrun train\n"),
        ("job.sh", "#!/bin/bash\n#SBATCH --gpus-per-node 8\nsrun train\n"),
        ("devcontainer.json", '{\n  // CUDA\n  "runArgs": ["--gpus", "all"],\n}\n'),
        ("ci.yml", "container:\n  options: --gpus all\n"),
        ("task.dstack.yml", "resources:\n  gpu: 24GB..80GB\n"),
    ],
    valid=[
        ("run.sh", "docker run --rm image/name:1 python train.py  # --gpus all\n"),
        ("compose.yaml", "runtime: runc  # nvidia\n"),
        ("job.slurm", "#SBATCH --gres=npu:4\n# gpu\n"),
        ("train.sh", "python train.py --gpus 2\n"),
    ],
)
def device_request(setting: Setting) -> Answer:
    """Point out requests for NVIDIA's devices: `--gpus all`, `nvidia.com/gpu`, `--gres=gpu:4`.

    They are made to Docker, Kubernetes or a batch system, which refuse them where there is no
    such device. Ascend's container runtime is asked for by `--runtime=ascend` and
    ASCEND_VISIBLE_DEVICES, or the devices are passed in one by one (`--device /dev/davinci0`);
    Kubernetes knows them by the name of Ascend's device plugin, a batch system by the name that
    its site gave them. None of this can be told from the file, so it is left to a person.
    """
    written, value = setting.written, setting.value.strip()
    if setting.program == "docker" and setting.key == "gpus":
        return Manual(
            f"--gpus {value} asks Docker for NVIDIA's devices: use --runtime=ascend with -e "
            "ASCEND_VISIBLE_DEVICES=..., or pass --device /dev/davinci0 and its like, on Ascend"
        )
    if setting.key in ("runtime", "driver", "runtimeclassname") and value == "nvidia":
        return Manual(
            f'{written}: nvidia asks for NVIDIA\'s container runtime: write "ascend" in a copy for '
            "hosts with Ascend's container runtime"
        )
    if re.fullmatch(r"nvidia\.com/(?:gpu|mig)\S*", written):
        return Manual(
            f"{written} is the resource of NVIDIA's device plugin: ask for the one of Ascend's "
            "plugin (such as huawei.com/Ascend910) in a copy for Ascend"
        )
    if _GPUS.fullmatch(setting.key) and not _ASKED.isdisjoint(setting.keys) and setting.is_on:
        return Manual(
            f"{written}: {value} asks the platform for GPUs: ask for NPUs, by the name that it has "
            "for them, in a copy for Ascend"
        )
    if setting.program in _BATCH and (
        _GPUS.fullmatch(setting.key) or (setting.key == "gres" and value.startswith("gpu"))
    ):
        return Manual(
            f"--{written}={value} asks the batch system for GPUs: write the name that your site "
            "gave its NPUs in a copy for Ascend"
        )
    return None
