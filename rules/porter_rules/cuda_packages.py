"""Packages that need NVIDIA's CUDA, and what to use on an Ascend NPU instead."""

from __future__ import annotations

import re

_ATTENTION = (
    "torch.nn.functional.scaled_dot_product_attention, or torch_npu.npu_fusion_attention on "
    "Ascend (mind the layouts: flash_attn has the heads behind the sequence, torch before it)"
)
_TRITON = "torch operators, or triton-ascend, which compiles Triton kernels for Ascend"
_ARRAYS = "torch tensors on the device, or NumPy"
_TABLES = "pandas and scikit-learn"
_EXPORT = "an export to ONNX and Ascend's own compiler and runtime (ATC, MindIE)"
_FIGURES = "the shim's mem_get_info and memory_allocated, or npu-smi on Ascend"
_LINEAR = "bf16 weights and torch.nn.Linear, or torch_npu's quantised operators on Ascend"
_KERNELS = "a version in torch operators, or an Ascend C kernel"
_FUSED = "torch.nn's own layers and torch.optim's optimizers, or Ascend's build of apex"

CUDA_ONLY = {
    "MinkowskiEngine": _KERNELS,
    "GPUtil": _FIGURES,
    "amp_C": _FUSED,
    "apex": "torch's own mixed precision, optimizers and layers, or Ascend's build of apex",
    "apex_C": _FUSED,
    "auto_gptq": _LINEAR,
    "awq": _LINEAR,
    "bitsandbytes": "torch.optim.AdamW and bf16 weights, unless your version supports Ascend",
    "causal_conv1d": "torch.nn.functional.conv1d",
    "cudf": _TABLES,
    "cugraph": "networkx or scipy.sparse",
    "cuml": _TABLES,
    "cupy": _ARRAYS,
    "cupyx": _ARRAYS,
    "cutlass": _KERNELS,
    "deep_ep": "torch.distributed.all_to_all_single over HCCL",
    "deep_gemm": "torch.matmul",
    "diff_gaussian_rasterization": _KERNELS,
    "eetq": _LINEAR,
    "emerging_optimizers": "torch.optim's optimizers",
    "exllamav2": _LINEAR,
    "fla": _TRITON,
    "flash_attn": _ATTENTION,
    "flash_attn_interface": _ATTENTION,
    "flashinfer": _ATTENTION,
    "gptqmodel": _LINEAR,
    "grouped_gemm": "torch.matmul per group, or torch_npu.npu_grouped_matmul on Ascend",
    "gsplat": _KERNELS,
    "liger_kernel": _TRITON,
    "mamba_ssm": _KERNELS,
    "modelopt": _LINEAR,
    "nvdiffrast": _KERNELS,
    "nvidia": "torchvision's or torch.utils.data's loading and transforms on the host",
    "nvidia_resiliency_ext": "torch.distributed's elastic launch and checkpoints",
    "nvidia_smi": _FIGURES,
    "py3nvml": _FIGURES,
    "pycuda": _ARRAYS,
    "pynvml": _FIGURES,
    "sageattention": _ATTENTION,
    "simple_knn": _KERNELS,
    "spconv": _KERNELS,
    "tensorrt": _EXPORT,
    "tensorrt_llm": _EXPORT,
    "tinycudann": "torch.nn layers and a torch version of the encodings",
    "torch_tensorrt": _EXPORT,
    "torchsparse": _KERNELS,
    "transformer_engine": "torch.nn layers in bf16, or MindSpeed on Ascend for Megatron-LM",
    "triton": _TRITON,
    "unsloth": "transformers and peft without it",
    "xformers": _ATTENTION,
}
"""Packages that can't be installed, or do nothing, without CUDA, by the name they import as."""

PORTABLE = {
    "deepspeed": "it runs on Ascend once torch_npu is installed",
    "torchao": "it imports anywhere; its int4 and fp8 kernels are CUDA's",
    "vllm": "on Ascend it needs the plugin vllm-ascend",
}
"""Packages that are known for CUDA and have an answer for Ascend."""

MODULES = {
    "numba.cuda": _KERNELS,
    "cuda.bindings": "the shim's functions",
    "cuda.core": "the shim's functions",
    "cuda.cuda": "the shim's functions",
    "cuda.cudart": "the shim's functions",
    "cuda.nvrtc": _KERNELS,
}
"""Single modules that need CUDA: numba works without, and `cuda` alone may be anybody's."""

COMPILED = re.compile(r"[a-z0-9_]+_cuda(?:_kernel|_ext|_lib)?")
"""What compiled CUDA extensions are called, where a whole top-level module has such a name."""
