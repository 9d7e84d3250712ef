"""The first look at a file of configuration: most hold no word of CUDA, and stop here unparsed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_WORDS = (b"cuda", b"nccl", b"nvidia", b"gpu", b"nvcr.io")
"""Words that are looked for in any case."""
_OPTIONS = (
    b"_4bit",
    b"_8bit",
    b"AdamW8bit",
    b"OneBit",
    b"ZeroOne",
    b"apex",
    b"awq",
    b"bitsandbytes",
    b"bnb",
    b"cudnn",
    b"flash",
    b"fp8",
    b"gptq",
    b"liger",
    b"paged_",
    b"qlora",
    b"quantization_bit",
    b"s2_attention",
    b"sdp_attention",
    b"tf32",
    b"transformer-engine",
    b"unsloth",
    b"use_4bit",
    b"use_8bit",
    b"xformers",
)
"""Words of options that need CUDA's kernels, spelt as the rules know them."""
_PACKAGES = (
    b"causal",
    b"cu1",
    b"cudf",
    b"cugraph",
    b"cuml",
    b"cupy",
    b"cutlass",
    b"deep-ep",
    b"deep-gemm",
    b"deepspeed",
    b"eetq",
    b"exllama",
    b"gsplat",
    b"grouped",
    b"mamba",
    b"minkowski",
    b"nsys",
    b"nvcc",
    b"nvdiffrast",
    b"nvidia",
    b"nvml",
    b"nvprof",
    b"sageattention",
    b"spconv",
    b"tensorrt",
    b"tinycudann",
    b"torchao",
    b"torchsparse",
    b"transformer",
    b"triton",
    b"vllm",
)
"""Words of packages and tools, in files that install packages or call programs."""
_INSTALLS = frozenset({"dockerfile", "ini", "makefile", "requirements", "shell", "toml", "yaml"})


def may_have_sites(data: bytes, kind: str) -> bool:
    """Whether a file's bytes hold any word that a site needs.

    Args:
        data: the file's bytes; what is not UTF-8 has no sites.
        kind: the file's kind, as `porter.kinds` names it.
    """
    small = data.lower()
    if _any(_WORDS, small) or _any(_OPTIONS, data):
        return True
    return kind in _INSTALLS and _any(_PACKAGES, small)


def _any(words: Sequence[bytes], data: bytes) -> bool:
    return any(word in data for word in words)
