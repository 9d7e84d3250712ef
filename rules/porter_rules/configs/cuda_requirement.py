"""Packages that need CUDA, where they are asked for."""

from __future__ import annotations

import re

from porter.configs.rule import Answer, Manual, Note, config_rule
from porter.configs.subjects import Requirement
from porter_rules.cuda_packages import CUDA_ONLY, PORTABLE

_OTHER_NAMES = {
    "autoawq": "awq",
    "cuda-python": "pycuda",
    "flash-linear-attention": "fla",
    "gpustat": "nvidia_smi",
    "minkowskiengine": "MinkowskiEngine",
    "nvidia-apex": "apex",
    "nvidia-cutlass": "cutlass",
    "nvidia-ml-py": "pynvml",
    "nvidia-ml-py3": "pynvml",
    "nvidia-tensorrt": "tensorrt",
}
_BY_NAME = {name.replace("_", "-").lower(): name for name in CUDA_ONLY} | _OTHER_NAMES
_SUFFIX = re.compile(r"-(?:cuda|cu)\d+x?")
_BUILD = re.compile(r"\+cu\d{2,3}|/cu\d{2,3}[/_-]|=\S*cuda|=\S*_cu\d")
_SYSTEM = re.compile(
    r"cuda(?:-.*)?|cudatoolkit(?:-dev)?|cudnn|libcudnn.*|libnccl.*|libnvinfer.*|nccl|nvidia-.*"
    r"|pytorch-cuda|cuda-toolkit.*|pytorch-gpu"
)
_GPU_BUILD = re.compile(r"(?:faiss|onnxruntime|tensorflow|paddlepaddle|jax|dgl|torch)-gpu")


@config_rule(
    "PTR815",
    on=Requirement,
    manual=[
        ("requirements.txt", "torch\nflash-attn==2.7.0.post2\n"),
        ("requirements.txt", "bitsandbytes>=0.41\n"),
        ("requirements.txt", "torch==2.1.0+cu118\n"),
        ("requirements.txt", "cupy-cuda12x\nnvidia-cublas-cu12==12.1.3.1\n"),
        ("requirements-gpu.txt", "onnxruntime-gpu\n"),
        ("requirements.txt", "git+https://github.com/NVIDIA/apex.git@22.04-dev\n"),
        ("environment.yml", "dependencies:\n  - pytorch\n  - pytorch-cuda=11.8\n"),
        ("environment.yml", "dependencies:\n  - pip:\n      - xformers==0.0.22\n"),
        ("environment.yml", "dependencies:\n- pytorch=2.1.0=py3.10_cuda11.8_cudnn8.7.0_0\n"),
        ("pyproject.toml", '[project]\ndependencies = ["torch", "triton>=2.3.0"]\n'),
        ("pyproject.toml", '[tool.poetry.dependencies]\nxformers = "^0.0.22"\n'),
        ("setup.cfg", "[options]\ninstall_requires =\n    torch\n    flash-attn>=2\n"),
        ("setup.sh", 'pip install -U "flash-attn>=2" --no-build-isolation\n'),
        ("Dockerfile", "FROM ubuntu\nRUN apt-get install -y libnccl2 git && \\\n    rm -rf x\n"),
        ("ci.yml", "steps:\n- run: conda install -c nvidia cudatoolkit=11.3\n"),
    ],
    notes=[
        ("requirements.txt", "deepspeed==0.15.4\n"),
        ("setup.sh", "pip install deepspeed\n"),
    ],
    valid=[
        ("requirements.txt", "# flash-attn\ntorch==2.1.0  # +cu118\nnumba\n"),
        ("requirements.txt", "-r requirements-cuda.txt\n"),
        ("environment.yml", "name: cuda\ndependencies:\n- python=3.10\n"),
        ("setup.sh", "pip install -r requirements.txt  # flash-attn\n"),
    ],
)
def cuda_requirement(requirement: Requirement) -> Answer:
    """Point out requirements that need CUDA: packages, and builds of torch for CUDA.

    A package such as flash-attn, bitsandbytes, xformers, cupy or nvidia-* doesn't install, or
    does nothing, on a host without CUDA, and one of them is enough to stop an installation. Keep
    them for CUDA in a file or an extra of their own; the message says what to use on Ascend.
    A build of torch for CUDA (`torch==2.1.0+cu118`, conda's `pytorch-cuda`) has no place there:
    torch_npu goes with the CPU build of the same version.

    Packages that run on Ascend by themselves or with a plugin (deepspeed, torchao, vllm) stay,
    and are noted. Nothing is rewritten.
    """
    name, text = requirement.name, requirement.text
    if name in PORTABLE:
        return Note(f"{name} is known for CUDA: {PORTABLE[name]}")
    if _BUILD.search(text):
        return Manual(
            f"{text} is a build for CUDA: ask for it without, in a file for Ascend, beside torch's "
            "CPU build and the torch_npu of the same version"
        )
    if requirement.manager != "pip" and _SYSTEM.fullmatch(name):
        return Manual(
            f"{name} is a part of CUDA: leave it out in an image or environment for Ascend, which "
            "has CANN and torch_npu instead"
        )
    if _GPU_BUILD.fullmatch(name):
        return Manual(
            f"{name} is the build for CUDA: ask for {name.removesuffix('-gpu')}, or for the "
            "build for Ascend where there is one, in a file for Ascend"
        )
    known = _BY_NAME.get(_SUFFIX.sub("", name))
    if known is None and name.startswith("nvidia-"):
        known = "nvidia"
    if known is None:
        return None
    if known == "nvidia":
        return Manual(
            f"{name} is a part of CUDA or of NVIDIA's libraries: keep it in a file or an extra for "
            "CUDA alone"
        )
    return Manual(
        f"{name} is CUDA's: keep it in a file or an extra for CUDA alone, and use on Ascend "
        f"{CUDA_ONLY[known]}"
    )
