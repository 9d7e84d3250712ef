"""What makes porter look at a file, a line, an expression: plain words, no rule logic.

A rule that speaks about something new adds its word here. This module imports nothing, not even
`re`, so that the hook can dismiss a file at hardly more than the cost of Python's start.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

FILE_WORDS = (b"cuda", b"CUDA", b"nccl", b"NCCL", b"nvidia-smi")
"""A file, or a line, with one of these may hold a site."""

SHIM_IMPORTS = (b"porter_runtime", b"import _accel")
"""A file with one of these has been ported: its LINE_WORDS are a reason to look at it.

Otherwise nobody would be told again of what the port left to a person, since the words that made
the file interesting are gone.
"""

_QUOTED = rb"[\"'][^\"'\n]{0,100}"
_GIVEN = rb"[\"']?\]?\s*[:=]\s*"  # `name=`, `"name": `, `["name"] = `
_READ = rb"\b(?!\(|\s*=[^=])"  # an attribute that is neither called nor given a value

HINTS = (
    (
        (
            b"torch as ",
            b"torch.load(",
            b"torch.jit.load(",
            b"torch.compile",
            b"_autocast",
            b"torch.amp",
            b"torch.GradScaler",
            b"torch.random",
            b"cpp_ext",
            b"torch_bf16",
            b"torch_tf32",
        ),
        rb"torch(?: as (?!torch\b)|\.(?:jit\.)?load\((?![^\n]*map_location=(?!None))"
        rb"|\.compile(?:\(|(?<=[@=]torch\.compile)[\r\n]|(?<== torch\.compile)[\r\n])"
        rb"|\.(?:is_autocast_enabled|[gs]et_autocast)|\.amp\b|\.GradScaler|\.random\b"
        rb"|\.utils[. ](?:import )?cpp_ext|_bf16|_tf32)",
    ),
    ((b"pin_memory",), rb"pin_memory(?:\(|_device|" + _GIVEN + rb"True)"),
    ((b"out of memory",), _QUOTED + rb"out of memory"),
    ((b"DataParallel",), rb"DataParallel(?:\(| as )|DataParallel,[^\n]*device"),
    (
        (b"device()", b"device_ids", b"output_device", b"device_map"),
        rb"device(?:\(\)\s*[,)]|(?:_ids|(?<=output_device))\s*=\s*(?!None)"
        rb"|_map" + _GIVEN + rb"(?:\{|\d|\w*rank))",
    ),
    ((b"convert_sync_batchnorm",), rb"convert_sync_batchnorm\("),
    (
        (b"load_in_",),
        rb"load_in_[48]bit(?:" + _GIVEN + rb"(?!False|None|load_in_|bool|Opt)\w"
        rb"|(?<=\.load_in_.bit)" + _READ + rb")",
    ),
    (
        (b"flash_attention_",),
        rb"flash_attention_(?:2\s*=\s*True|\d(?<=[\"']flash_attention_\d)"
        rb"(?<![=!]= [\"']flash_attention_\d)[\"'](?!\s*[\]:]))",
    ),
    ((b"optim=",), rb"optim=[\"'](?:paged_|\w+_(?:[48]bit|32bit|apex_fused))"),
    ((b"tf32=", b".tf32"), rb"tf32(?:=(?!False|None)|(?<=\.tf32)" + _READ + rb")"),
    (
        (b".flash_attention", b".s2_attention", b".sdp_attention", b".xformers_attention"),
        rb"_attention(?:(?<=\.flash_attention)|(?<=\.s2_attention)|(?<=\.sdp_attention)"
        rb"|(?<=\.xformers_attention))" + _READ,
    ),
    (
        (b"_require",),
        rb"[\"'](?:flash[-_]attn|xformers|bitsandbytes|cupy|nvidia-)|[+/]cu1\d",
    ),
    ((b"ightning",), rb"accelerator\s*=\s*[\"'(\w]|gpus\s*=\s*[^=0N]"),
)
"""A file with one of the words may hold a site where the expression finds something.

The words are what is quick to look for; the expressions keep files from being parsed in which
they stand in a signature, a text, or something that is passed through. Where there are several
words, the expression begins with what they share: it is as quick as one word.
"""

WEAK_WORDS = (
    *(b"rank)", b"rank,", b"gpu)", b"gpu,", b"gpu_id", b"device_id", b"get_rank()"),
    *(b".to(0", b".to(1", b"device=0", b"device=1", b"device=i)", b"device=i,", b"torch.device(0"),
    *(b"LOCAL_RANK", b"parallel.data_parallel", b"import data_parallel", b"triton.jit"),
    *(b"import _C", b"emit_nvtx", b"barrier(", b".compile(", b"cudnn", b"__global__"),
    *(b"channels_last", b'"fork"', b"'fork'", b"CUBLAS_", b"NVTE_", b"record_stream"),
    *(b"multi_processor_count", b"warp_size", b".major", b".minor"),
)
"""A line with one of these may hold a site, in a file that speaks of CUDA at all."""

LINE_WORDS = (
    *WEAK_WORDS,
    *(b"pin_memory", b"out of memory", b"DataParallel", b"device_ids", b"device_map", b"load_in_"),
    *(b"tf32", b"_8bit", b"paged_", b"apex_fused", b"is_torch_bf16"),
    *(b"torch.load", b"torch.compile", b"_autocast_", b"GradScaler", b"fork_rng", b"import load"),
    *(b"convert_sync_batchnorm", b"get_device()", b"cpp_extension", b"accelerator=", b"gpus="),
    *(b".load(", b"output_device", b"flash_attention", b"s2_attention", b"sdp_attention"),
    *(b"flash-attn", b"xformers", b"bitsandbytes", b"cupy-", b"triton", b"nvidia-"),
    *(b"+cu1", b"/cu1"),
)
"""A line with one of these may hold a site, in a file that has another reason to be looked at."""

STEMS = (
    *(b"device", b"rank", b"gpu", b"load", b"memory", b"arallel", b"compile", b".to("),
    *(b"_attention", b"fork", b"bit", b"cu1"),
)
"""Parts that several of the words above share: those are looked for in one pass."""

PACKAGES = frozenset(
    b"""
    MinkowskiEngine amp_C apex apex_C auto_gptq awq bitsandbytes causal_conv1d cudf cugraph cuml
    cupy cupyx cutlass deep_ep deep_gemm deepspeed diff_gaussian_rasterization eetq
    emerging_optimizers exllamav2 fla flash_attn flash_attn_interface flashinfer gptqmodel
    GPUtil grouped_gemm gsplat liger_kernel mamba_ssm modelopt nvdiffrast nvidia
    nvidia_resiliency_ext nvidia_smi py3nvml pycuda pynvml sageattention simple_knn spconv
    tensorrt tensorrt_llm tinycudann torch_npu torch_tensorrt torchao torchsparse
    transformer_engine triton unsloth vllm xformers
    """.split()
)
"""A file, or a line, that imports one of these may hold a site."""


_IMPORTED = (b"load", b"compile", b"amp", b"GradScaler", b"cpp_ext")


def imports_from_torch(data: bytes) -> bool:
    """Whether the text imports a name from torch that may be a site under its bare name."""
    at = data.find(b"torch import ")
    while at >= 0:
        end = data.find(b"\n", at)
        line = data[at : end if end >= 0 else None]
        if any(name in line for name in _IMPORTED):
            return True
        at = data.find(b"torch import ", at + 13)
    return False


def package_imports(data: bytes) -> Iterator[int]:
    """Yield where the text imports one of PACKAGES; 30 times faster than to look for each name."""
    at = data.find(b"import ")
    while at >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        words = data[start : at + 60].split(None, 2)
        if len(words) > 1 and words[1].partition(b".")[0] in PACKAGES:
            yield start
        at = data.find(b"import ", at + 7)


ATTRIBUTES = frozenset(
    """
    cuda is_cuda NCCL CUDA cudnn
    record_stream multi_processor_count warp_size major minor
    to get_device device pin_memory load compile jit channels_last channels_last_3d
    get_context set_start_method has_cuda _C emit_nvtx barrier
    CUDAExtension load_inline
    is_torch_bf16_gpu_available is_torch_bf16_available is_torch_tf32_available
    is_torch_cuda_available
    GradScaler is_autocast_enabled get_autocast_gpu_dtype is_autocast_available
    set_autocast_enabled set_autocast_gpu_dtype fork_rng
    is_nccl_available ProcessGroupNCCL _check_for_nccl_backend _make_nccl_premul_sum
    DataParallel data_parallel DistributedDataParallel convert_sync_batchnorm
    flash_attention s2_attention sdp_attention xformers_attention load_in_8bit load_in_4bit tf32
    """.split()
)
"""An expression with one of these behind a dot may hold a site."""

KEYWORDS = frozenset(
    """
    use_cuda no_cuda
    device pin_memory pin_memory_device device_map accelerator gpus tf32
    device_ids output_device device_id
    load_in_8bit load_in_4bit use_flash_attention_2 CUDA_VISIBLE_DEVICES
    """.split()
)
"""An expression with a call that has one of these keywords may hold a site."""

VARIABLES = frozenset({"device_map"})
"""What such a variable, attribute or parameter gets may be a site."""

STRINGS = (
    "cuda",
    "nccl",
    "cublas_",
    "nvte_",
    "flash_attention",
    "s2_attention",
    "sdp_attention",
    "xformers_attention",
    "tf32",
    "_8bit",
    "paged_",
    "apex_fused",
    "load_in_",
    "pin_memory",
    "fork",
    "local_rank",
    *("device_ids", "output_device"),
    *("flash-attn", "xformers", "bitsandbytes", "cupy-", "nvidia-", "+cu1", "/cu1"),
)
"""A string that holds one of these, in any case and without blanks, may be a site."""

PHRASES = ("torch.cuda", "out of memory", "cuda error", "nvidia-smi")
"""A string that holds one of these, in any case, may be a site."""

CODE = (".cuda(", "torch.cuda", '"cuda', "'cuda", "__global__")
"""A string of any length that holds one of these may hold code: a program, a doctest, a kernel."""

NAMESPACES = (
    "torch.cuda",
    "torch._C",
    "torch.load",
    "torch.jit.load",
    "torch.backends.cuda",
    "torch.backends.cudnn",
    "torch.amp.GradScaler",
    "torch.random.fork_rng",
    "torch.distributed.is_nccl_available",
    "torch.nn.DataParallel",
    "torch.nn.parallel.DataParallel",
    "torch.nn.parallel.data_parallel",
    "torch.nn.parallel.DistributedDataParallel",
    "torch.nn.parallel.distributed.DistributedDataParallel",
    "torch.utils.cpp_extension.CUDAExtension",
    "torch.utils.cpp_extension.load",
    "torch.utils.cpp_extension.load_inline",
    *(
        f"transformers{module}.is_torch_{what}_available"
        for module in ("", ".utils", ".utils.import_utils", ".file_utils")
        for what in ("bf16_gpu", "bf16", "tf32", "cuda")
    ),
)
"""A name that an import binds to something in one of these may be a site wherever it stands."""


MODULES = frozenset(
    f"torch.cuda{name}"
    for name in (
        *("", ".amp", ".comm", ".gds", ".graphs", ".green_contexts", ".jiterator", ".memory"),
        *(".nccl", ".nvtx", ".profiler", ".random", ".sparse", ".streams", ".tunable"),
    )
)
"""Modules that are used through an alias; other names are spoken of where they are imported."""


def in_string(value: str) -> bool:
    """Whether a string constant may be a site."""
    if any(mark in value for mark in CODE):
        return True
    if len(value) > 200:
        return False
    lowered = value.lower()
    if any(phrase in lowered for phrase in PHRASES):
        return True
    return any(word in lowered for word in STRINGS) and not any(c.isspace() for c in value)


def is_traced(qualified: str) -> bool:
    """Whether a dotted name lies in one of the namespaces that rules speak about."""
    return any(_lies_in(qualified, namespace) for namespace in NAMESPACES)


def is_cuda(qualified: str) -> bool:
    """Whether a dotted name is torch.cuda, or something in it: some rule has to speak of it."""
    return _lies_in(qualified, "torch.cuda")


def _lies_in(qualified: str, namespace: str) -> bool:
    return qualified == namespace or qualified.startswith(namespace + ".")
