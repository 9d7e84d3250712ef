"""NVIDIA's programs in scripts, images and workflows."""

from __future__ import annotations

from porter.configs.rule import Answer, Manual, config_rule
from porter.configs.subjects import Tool

_INSTEAD = {
    "dcgmi": "call `npu-smi info` on Ascend",
    "ncu": "use torch_npu.profiler or msprof on Ascend",
    "nsys": "use torch_npu.profiler or msprof on Ascend",
    "nvcc": "leave out what it compiles for Ascend, or port it to Ascend C",
    "nvidia-docker": "call docker with Ascend's container runtime (--runtime=ascend) on Ascend",
    "nvidia-smi": "call `npu-smi info` on Ascend, or ask the shim's device_count() and "
    "mem_get_info() from Python",
    "nvprof": "use torch_npu.profiler or msprof on Ascend",
}


@config_rule(
    "PTR814",
    on=Tool,
    manual=[
        ("run.sh", "nvidia-smi\n"),
        ("run.sh", "GPUS=$(nvidia-smi -L | wc -l)\n"),
        ("run.sh", "if ! command -v nvidia-smi > /dev/null; then exit 1; fi\n"),
        ("run.sh", "bash -c 'nvidia-smi -q'\n"),
        ("ci.yml", "steps:\n  - name: nvidia-smi\n    run: |\n      set -e\n      nvidia-smi\n"),
        ("Dockerfile", 'FROM ubuntu\nCMD ["nvidia-smi", "-L"]\n'),
        ("Makefile", "kernel.o: kernel.cu\n\t@nvcc -c kernel.cu -o kernel.o\n"),
        ("profile.sh", "nsys profile -o out python train.py\n"),
    ],
    valid=[
        ("run.sh", "echo nvidia-smi\n# nvidia-smi\n"),
        ("run.sh", 'echo "run nvidia-smi first"\n'),
        ("ci.yml", "steps:\n  - name: nvidia-smi\n    run: pytest\n"),
    ],
)
def nvidia_tools(tool: Tool) -> Answer:
    """Point out calls of NVIDIA's programs: nvidia-smi, nvcc, nsys and their like.

    They don't exist on a host without NVIDIA's driver or toolkit, where a script then stops, or
    counts no devices. Ascend's own tools have other options and another output, so no call is
    replaced: each message names what does the job there.
    """
    instead = _INSTEAD.get(tool.name, "leave it out for Ascend")
    return Manual(f"{tool.name} knows NVIDIA's devices alone: {instead}")
