"""How Accelerate is told that there are several devices."""

from __future__ import annotations

from porter.configs.rule import Answer, Manual, Note, config_rule
from porter.configs.subjects import Setting


@config_rule(
    "PTR804",
    on=Setting,
    manual=[
        (
            "default_config.yaml",
            "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\ngpu_ids: all\n",
        ),
        ("default_config.json", '{"distributed_type": "MULTI_GPU", "num_processes": 2}\n'),
    ],
    notes=[("train.sh", "accelerate launch --multi_gpu --num_processes 2 train.py\n")],
    valid=[
        ("default_config.yaml", "distributed_type: 'NO'\ngpu_ids: all\n"),
        ("default_config.yaml", "distributed_type: MULTI_NPU\ngpu_ids: all\n"),
    ],
)
def config_distributed_type(setting: Setting) -> Answer:
    """Point out `distributed_type: MULTI_GPU` in Accelerate's configuration.

    Accelerate has a member of its own for Ascend since 0.21, MULTI_NPU, which `accelerate config`
    writes there. An older, ported Accelerate has none and takes MULTI_GPU to mean several
    accelerators of whatever kind. So the value is left: it is right for CUDA, and for a port of
    Accelerate itself; for a current Accelerate keep a second file for Ascend.

    The launcher's option `--multi_gpu` means several processes on the devices at hand: noted.
    """
    if setting.key == "distributed_type" and setting.value == "MULTI_GPU":
        return Manual(
            "distributed_type: MULTI_GPU is accelerate's name for several CUDA devices: write "
            "MULTI_NPU in a copy for Ascend (accelerate 0.21 and later; `accelerate config` makes "
            "it), and keep it for an older, ported accelerate"
        )
    if setting.key == "multi_gpu" and setting.program == "accelerate":
        return Note("--multi_gpu means several processes on the devices at hand to the launcher")
    return None
