"""Devices that files of configuration name."""

from __future__ import annotations

import re

from porter.configs.rule import Answer, Manual, Note, config_rule
from porter.configs.subjects import Setting

_DEVICE = re.compile(r"(?:cuda|gpu)(:\d+)?", re.IGNORECASE)
_NUMBERED = re.compile(r"cuda:\d+")
_KEY = re.compile(r"(?:.*_)?(?:device|devices|device_type|dev|map_location|device_map)(?:_?\d+)?")
_SWITCH = re.compile(r"(?:use_)?(?:cuda|gpu)|(?:use|enable)_(?:cuda|gpu)s?")


@config_rule(
    "PTR801",
    on=Setting,
    manual=[
        ("train.yaml", "device: cuda:0        # or cpu\n"),
        ("train.yaml", 'run:\n  device: "cuda"\n'),
        ("train.yaml", "model: {devices: [cuda:0, cuda:1]}\n"),
        ("config.json", '{"trainer": {"device": "cuda"}}\n'),
        ("config.toml", '[train]\ndevice = "cuda"\n'),
        ("sweep.yaml", "parameters:\n  device:\n    value: cuda\n"),
        ("train.sh", "python train.py --device cuda --epochs 3\n"),
        ("train.sh", "python train.py trainer.device=cuda:0\n"),
        ("train.sh", 'ARGS="\n  --device cuda:0 \\\n  --epochs 3\n"\npython train.py $ARGS\n'),
        ("model.yml", "device_map: cuda\n"),
    ],
    notes=[("train.yaml", "use_cuda: true\n")],
    valid=[
        ("train.yaml", "# device: cuda\nname: cuda-baseline\n"),
        ("train.yaml", "device: cpu\nloader: {pin_memory: true}  # cuda\n"),
        ("train.yaml", "description: cuda\ntags: [cuda, cuda:0]\n"),
        ("train.yaml", 'device: ${oc.env:DEVICE,"cuda"}\n'),
        ("train.yaml", "device: {{ device | default('cuda') }}\n"),
        ("train.yaml", "use_cuda: false\n"),
        ("ci.yml", "strategy:\n  matrix:\n    device: [cuda, npu]\n"),
        ("train.sh", "echo --device cuda\n"),
    ],
)
def config_device(setting: Setting) -> Answer:
    """Point out devices that configuration names: `device: cuda:0`.

    The code that reads such a value hands it to torch as it is, ported or not, and torch refuses
    "cuda" without CUDA. What would be right on every device depends on who reads it: one program
    takes "auto", another takes the resolved device where the key is missing, a third insists on
    a name. So the value is left to a person: leave it out where the ported code then falls back
    on `accel.device_type`, or keep a copy of the file for Ascend with "npu". In a shell script
    the same holds for the option (`--device cuda`).

    A switch such as `use_cuda: true` stays, and is noted: ported code takes it to mean the
    accelerator. Names, descriptions, tags and comments are nobody's devices.
    """
    if _SWITCH.fullmatch(setting.key):
        if setting.value.lower() in ("true", "yes", "on"):
            return Note(
                f"`{setting.written}`: ported code takes it to mean the accelerator at hand"
            )
        return None
    if "matrix" in setting.keys:
        return None  # of a workflow, which builds for each
    found = _DEVICE.fullmatch(setting.value)
    if found is None or not (_KEY.fullmatch(setting.key) or _NUMBERED.fullmatch(setting.value)):
        return None
    return Manual(
        f'{setting.key}: "{setting.value}" is CUDA\'s alone, and torch refuses it elsewhere: leave '
        "it out where the ported code then takes accel.device_type, or write "
        f'"npu{found[1] or ""}" in a copy for Ascend'
    )
