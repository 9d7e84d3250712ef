"""Environment variables of CUDA and its libraries in scripts, images and workflows."""

from __future__ import annotations

import re

from porter.configs.rule import Answer, Manual, Note, Twin, config_rule
from porter.configs.subjects import Variable

_VISIBLE = "CUDA_VISIBLE_DEVICES"
_ASCEND = "ASCEND_RT_VISIBLE_DEVICES"
_TWINS = {
    "CUDA_LAUNCH_BLOCKING": "ASCEND_LAUNCH_BLOCKING",
    "PYTORCH_CUDA_ALLOC_CONF": "PYTORCH_NPU_ALLOC_CONF",
}
_NCCL = re.compile(r"(?:TORCH_)?NCCL_\w+")
_CONTAINER = re.compile(r"NVIDIA_(?:VISIBLE_DEVICES|DRIVER_CAPABILITIES|REQUIRE_CUDA)")
_OTHER = re.compile(
    r"(?:CUDA|CUBLAS|CUDNN|NVCC|NVTE|NVIDIA|TORCH_CUDA|PYTORCH_CUDA|PYTORCH_NVML)_\w+"
)

_PAIRED = f"{_VISIBLE} hides CUDA's devices alone; an Ascend NPU heeds {_ASCEND}"


@config_rule(
    "PTR805",
    on=Variable,
    rewrites=[
        (
            "train.sh",
            "CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node 2 train.py\n",
            "CUDA_VISIBLE_DEVICES=0,1 ASCEND_RT_VISIBLE_DEVICES=0,1 "
            "torchrun --nproc_per_node 2 train.py\n",
        ),
        (
            "train.sh",
            'export CUDA_VISIBLE_DEVICES="0"  # the first\n',
            'export CUDA_VISIBLE_DEVICES="0" ASCEND_RT_VISIBLE_DEVICES="0"  # the first\n',
        ),
        (
            "ci.yml",
            "env:\n  CUDA_VISIBLE_DEVICES: '0'\n  A: b\n",
            "env:\n  CUDA_VISIBLE_DEVICES: '0'\n  ASCEND_RT_VISIBLE_DEVICES: '0'\n  A: b\n",
        ),
        (
            "ci.yml",
            "steps:\n- run: |\n    CUDA_VISIBLE_DEVICES=2 pytest\n",
            "steps:\n- run: |\n    CUDA_VISIBLE_DEVICES=2 ASCEND_RT_VISIBLE_DEVICES=2 pytest\n",
        ),
        (
            "compose.yaml",
            "environment:\n  - CUDA_VISIBLE_DEVICES=1\n",
            "environment:\n  - CUDA_VISIBLE_DEVICES=1\n  - ASCEND_RT_VISIBLE_DEVICES=1\n",
        ),
        (
            "launch.json",
            '{"env": {"CUDA_VISIBLE_DEVICES": "3"}}\n',
            '{"env": {"CUDA_VISIBLE_DEVICES": "3", "ASCEND_RT_VISIBLE_DEVICES": "3"}}\n',
        ),
        (
            "Dockerfile",
            "FROM ubuntu\nENV CUDA_VISIBLE_DEVICES=0\n",
            "FROM ubuntu\nENV CUDA_VISIBLE_DEVICES=0 ASCEND_RT_VISIBLE_DEVICES=0\n",
        ),
    ],
    manual=[
        ("train.sh", "export CUDA_VISIBLE_DEVICES=$GPU\n"),
        ("train.sh", "CUDA_VISIBLE_DEVICES=1,0 python train.py\n"),
        ("train.sh", 'CUDA_VISIBLE_DEVICES="" python train.py\n'),
        ("train.sh", "unset CUDA_VISIBLE_DEVICES\n"),
        ("train.sh", "docker run -e NVIDIA_VISIBLE_DEVICES=0 image/name:1\n"),
        ("Dockerfile", "FROM ubuntu\nENV FORCE_CUDA=1\n"),
        ("Makefile", "test:\n\tCUDA_VISIBLE_DEVICES=$(GPU) pytest\n"),
    ],
    notes=[
        ("train.sh", "export NCCL_DEBUG=INFO\n"),
        ("train.sh", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python train.py\n"),
        ("train.sh", "CUDA_VISIBLE_DEVICES=0 ASCEND_RT_VISIBLE_DEVICES=0 python train.py\n"),
        ("Dockerfile", 'FROM ubuntu\nENV TORCH_CUDA_ARCH_LIST="8.0;9.0"\n'),
        ("train.yaml", "env:\n  CUDA_DEVICE_MAX_CONNECTIONS: 1\n"),
        (
            "pod.yaml",
            "containers:\n- env:\n  - name: NCCL_IB_DISABLE\n    value: '1'\n",
        ),
    ],
    valid=[
        ("train.sh", "# CUDA_VISIBLE_DEVICES=0\necho CUDA_VISIBLE_DEVICES=0\n"),
        ("train.sh", "export MASTER_PORT=29500  # not NCCL_PORT\n"),
    ],
)
def config_variables(variable: Variable) -> Answer:
    """Set Ascend's variable beside CUDA_VISIBLE_DEVICES; note or point out the others.

    An NPU heeds ASCEND_RT_VISIBLE_DEVICES and nothing else, so a script that picks devices by
    CUDA_VISIBLE_DEVICES alone runs on all of them, or on the wrong one. With `--configs` the same
    ids are set for both, where they are plain numbers that ascend, which Ascend insists on. On
    CUDA, and without an accelerator, a further variable changes nothing. Where ids come from
    another variable, descend, hide every device, or are handed on or taken away, the line is left
    to a person; so is what would need more than one more entry.

    NCCL_DEBUG, CUDA_LAUNCH_BLOCKING, PYTORCH_CUDA_ALLOC_CONF and their like do no harm on other
    devices; they stay, with a note that names Ascend's own variable where there is one. What
    NVIDIA's container runtime alone heeds, or makes a build compile CUDA code, is reported.
    """
    name, value = variable.name, variable.value
    if name == _VISIBLE:
        return _visible(value)
    if _CONTAINER.fullmatch(name):
        return Manual(
            f"{name} is heeded by NVIDIA's container runtime alone: set ASCEND_VISIBLE_DEVICES, "
            "which Ascend's runtime heeds, in a copy for Ascend"
        )
    if name == "FORCE_CUDA":
        if value in ("0", ""):
            return None
        return Manual(
            "FORCE_CUDA makes setup.py build CUDA code, which fails without its compiler: leave it "
            "out for Ascend"
        )
    if name in _TWINS:
        return Note(f"{name} does no harm off CUDA; an Ascend NPU heeds {_TWINS[name]}")
    if _NCCL.fullmatch(name):
        return Note(f"{name} is heeded by NCCL alone and does no harm with HCCL or gloo")
    if _OTHER.fullmatch(name):
        return Note(f"{name} is heeded on CUDA alone and does no harm elsewhere")
    return None


def _visible(value: str | None) -> Answer:
    if value is not None and re.fullmatch(r"\d+(?:,\d+)*", value):
        ids = [int(text) for text in value.split(",")]
        if ids == sorted(set(ids)):
            return Twin(
                _ASCEND,
                f"{_PAIRED}: set that to the same ids here, or run with --configs",
                f"set {_ASCEND}, which an Ascend NPU heeds, beside {_VISIBLE}, to the same ids",
            )
        return Manual(f"{_PAIRED}, whose ids have to ascend: set that here, and mind the order")
    if value is not None and value.strip() in ("", "-1", "NoDevFiles"):
        return Manual(
            f'{_VISIBLE}="{value}" hides CUDA\'s devices alone: set PORTER_DEVICE=cpu too, which '
            "keeps ported code on the CPU"
        )
    return Manual(f"{_PAIRED}, with ascending ids: set that here to the same devices")
