"""The places that decide where axolotl 0.5.2 runs, and what two ports made of them.

The hand-made port is the one in axolotl 0.6.0. What porter made of a place isn't written here: it
is looked up in the port.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["same", "better", "reported", "missed"]


@dataclass(frozen=True)
class Site:
    """A place in axolotl 0.5.2, or of the same kind several.

    Attributes:
        path: the file below src/axolotl.
        before: text of its line, one place for each line that has it.
        by_hand: text that the hand-made port has in that file instead; empty where it left it.
        verdict: how porter handles it, beside the hand-made port.
        why: what the difference comes to.
    """

    path: str
    before: str
    by_hand: str
    verdict: Verdict
    why: str = ""


LEFT_CUDA = "by hand it still asks CUDA"
SITES = [
    Site(
        "cli/__init__.py",
        'torch.cuda.get_device_properties("cuda")',
        "",
        "better",
        f"{LEFT_CUDA}, and a bare `except` hides the error",
    ),
    Site(
        "cli/__init__.py",
        'gpu_version = "sm_"',
        "",
        "reported",
        "an NPU has no compute capability: nothing is invented, and the `except` answers None",
    ),
    Site(
        "cli/__init__.py",
        '"bf16": is_torch_bf16_gpu_available(),',
        "",
        "better",
        "by hand `bf16: true` is refused on an NPU",
    ),
    Site("core/tokenizer_utils.py", "torch.cuda.empty_cache()", "", "better", LEFT_CUDA),
    Site("core/trainer_builder.py", "torch.cuda.empty_cache()", "", "better", LEFT_CUDA),
    Site("monkeypatch/attention/mllama.py", "torch.is_autocast_enabled()", "", "better"),
    Site("monkeypatch/attention/mllama.py", "torch.get_autocast_gpu_dtype()", "", "better"),
    Site(
        "monkeypatch/relora.py",
        "torch.load(Path(model_src) / shard_path)",
        "",
        "better",
        "shards that were saved from CUDA load",
    ),
    Site("monkeypatch/relora.py", "torch.cuda.empty_cache()", "", "better", LEFT_CUDA),
    Site(
        "monkeypatch/relora.py",
        "import bitsandbytes as bnb",
        "",
        "reported",
        "unguarded, and reached by every training",
    ),
    Site(
        "monkeypatch/utils.py",
        "is_torch_bf16_gpu_available() else",
        "",
        "better",
        "by hand the mask is float32 where the model is bfloat16",
    ),
    Site(
        "train.py", 'if os.getenv("PYTORCH_CUDA_ALLOC_CONF") is None:', "", "reported", "harmless"
    ),
    Site("train.py", '                "PYTORCH_CUDA_ALLOC_CONF"', "", "reported", "harmless"),
    Site("train.py", "torch.backends.cuda.sdp_kernel(", "", "reported", "harmless"),
    Site(
        "utils/bench.py",
        "import pynvml",
        "nvmlInit = None",
        "reported",
        "by hand the import is guarded; porter says that it stops the program without pynvml",
    ),
    Site(
        "utils/bench.py",
        "from pynvml.nvml import NVMLError",
        "NVMLError = None",
        "reported",
        "the same",
    ),
    Site(
        "utils/bench.py",
        "or not torch.cuda.is_available()",
        "def npu_memory_usage_all(device=0):",
        "same",
        "by hand a second function for NPUs stands beside the one for CUDA",
    ),
    Site(
        "utils/bench.py",
        "torch.cuda.memory_allocated(device)",
        "torch.npu.memory_allocated(",
        "same",
    ),
    Site(
        "utils/bench.py", "torch.cuda.memory_reserved(device)", "torch.npu.memory_reserved(", "same"
    ),
    Site(
        "utils/bench.py",
        'device.startswith("cuda:")',
        "",
        "reported",
        "NVML answers for CUDA alone; without it, 0.0 is logged",
    ),
    Site(
        "utils/bench.py",
        'f"GPU memory usage {msg}:',
        'f"{str(cur_device)} memory usage {msg}:',
        "missed",
        "porter leaves what is logged as it is",
    ),
    Site(
        "utils/config/__init__.py",
        "if torch.cuda.is_available():",
        "if is_torch_npu_available():",
        "same",
    ),
    Site(
        "utils/config/__init__.py",
        'return f"cuda:{cfg.local_rank}"',
        'return f"npu:{cfg.local_rank}"',
        "same",
    ),
    Site(
        "utils/config/__init__.py",
        'raise SystemError("No CUDA/mps device found")',
        'raise SystemError("No CUDA/mps/npu device found")',
        "missed",
        "nobody reads it: the next line catches it",
    ),
    Site(
        "utils/config/__init__.py",
        'if cfg.device.startswith("cuda"):',
        'elif cfg.device.startswith("npu"):',
        "same",
    ),
    Site(
        "utils/config/__init__.py",
        'cfg.device_map = {"": torch.cuda.current_device()}',
        'cfg.device_map = {"npu": torch.npu.current_device()}',
        "better",
        "a `device_map` has names of modules for keys: by hand it places a module called npu",
    ),
    Site(
        "utils/config/__init__.py",
        'cfg.device_map = {"": int(os.environ.get("LOCAL_RANK", 0))}',
        "",
        "better",
        "an index means CUDA; by hand, `npu:0` replaces it in every process (utils/models.py)",
    ),
    Site(
        "utils/config/__init__.py",
        "if is_torch_bf16_gpu_available():",
        "",
        "better",
        "by hand `bf16: auto` never means bfloat16 on an NPU, and nothing says so",
    ),
    Site(
        "utils/config/__init__.py",
        "torch.backends.cuda.matmul.allow_tf32",
        "",
        "reported",
        "harmless; for the option see below",
    ),
    Site(
        "utils/distributed.py",
        "value_scalar, device=torch.cuda.current_device()",
        'device=f"{get_device_type()}:{get_current_device()}"',
        "same",
    ),
    Site(
        "utils/distributed.py",
        "0.0, device=torch.cuda.current_device()",
        "0.0, device=cur_device",
        "same",
    ),
    Site(
        "utils/distributed.py", "torch.ByteTensor(list(data_byte)).to(", ".to(cur_device)", "same"
    ),
    Site(
        "utils/distributed.py", "torch.IntTensor([len(data_byte)]).to(", ".to(cur_device)", "same"
    ),
    Site("utils/distributed.py", "torch.empty([1024]", "device=cur_device)", "same"),
    Site("utils/distributed.py", "torch.IntTensor([0]).to(", ".to(cur_device)", "same"),
    Site(
        "utils/gradient_checkpointing/unsloth.py",
        "torch.cuda.amp.custom_",
        "",
        "better",
        "by hand `gradient_checkpointing: unsloth` raises on an NPU",
    ),
    Site("utils/gradient_checkpointing/unsloth.py", "torch.amp.custom_", "", "better", "the same"),
    Site(
        "utils/gradient_checkpointing/unsloth.py",
        'hidden_states.to("cuda"',
        "",
        "better",
        "the same",
    ),
    Site(
        "utils/model_shard_quant.py",
        "import Linear4bit, Params4bit",
        "",
        "reported",
        "unguarded, and reached by every command",
    ),
    Site(
        "utils/model_shard_quant.py",
        ").cuda(device)",
        "",
        "reported",
        "this `.cuda()` is what quantises the weights",
    ),
    Site(
        "utils/model_shard_quant.py",
        "torch.cuda.get_device_properties(torch.cuda.current_device())",
        "",
        "better",
        LEFT_CUDA,
    ),
    Site(
        "utils/model_shard_quant.py",
        "int(os.cpu_count() / torch.cuda.device_count())",
        "",
        "better",
        "by hand it divides by zero without CUDA",
    ),
    Site("utils/model_shard_quant.py", "        parallel(", "", "reported"),
    Site("utils/model_shard_quant.py", "torch.cuda.empty_cache()", "", "better", LEFT_CUDA),
    Site(
        "utils/models.py",
        "import bitsandbytes as bnb",
        "",
        "reported",
        "unguarded, and reached by every command",
    ),
    Site("utils/models.py", "from bitsandbytes.nn import Params4bit", "", "reported", "the same"),
    Site(
        "utils/models.py",
        "range(torch.cuda.device_count())",
        "num_device = get_device_count()",
        "same",
    ),
    Site(
        "utils/models.py",
        "if torch.backends.mps.is_available():",
        'self.model_kwargs["device_map"] = "npu:0"',
        "missed",
        "one process that sees several NPUs: by hand it takes the first. porter leaves `auto`, "
        "which shares the model out as on several GPUs, and fails in transformers 4.46.3 as "
        "there: show it one device. With several processes, by hand all load onto `npu:0`",
    ),
    Site("utils/models.py", 'self.model_kwargs["load_in_8bit"] =', "", "reported"),
    Site("utils/models.py", 'self.model_kwargs["load_in_4bit"] =', "", "reported"),
    Site("utils/models.py", '"load_in_4bit": True,', "", "reported"),
    Site("utils/models.py", '"load_in_8bit": True,', "", "reported"),
    Site("utils/models.py", '["attn_implementation"] = "flash_attention_2"', "", "reported"),
    Site("utils/models.py", '                "flash_attention_2"', "", "reported"),
    Site(
        "utils/models.py",
        'self.model_kwargs["device"] = torch.cuda.current_device()',
        "",
        "better",
        "Mamba, whose package is reported too",
    ),
    Site(
        "utils/models.py", 'self.model.device.type in ("cuda", "mps")', '            "npu",', "same"
    ),
    Site(
        "utils/models.py",
        'self.model.to(f"cuda:{self.cfg.local_rank}")',
        'self.model.to(f"{str(get_device_type())}:{self.cfg.local_rank}")',
        "same",
    ),
    Site(
        "utils/models.py",
        "if torch.cuda.device_count() > 1 and",
        "if get_device_count() > 1",
        "same",
    ),
    Site("utils/models.py", "            torch.cuda.empty_cache()", "", "better", LEFT_CUDA),
    Site("utils/trainer.py", 'os.getenv("NCCL_P2P_DISABLE")', "", "reported", "harmless"),
    Site("utils/trainer.py", 'os.environ["NCCL_P2P_DISABLE"]', "", "reported", "harmless"),
    Site(
        "utils/trainer.py",
        'cfg.bf16 == "auto" and is_torch_bf16_gpu_available()',
        "",
        "better",
        "see `bf16: auto`",
    ),
]


@dataclass(frozen=True)
class Option:
    """A line of a user's configuration that asks for what an NPU lacks.

    Attributes:
        line: the option as it is written.
        by_hand: the word in the hand-made port that refuses it when a command reads it; empty where
            nothing does.
    """

    line: str
    by_hand: str


OPTIONS = [
    Option("flash_attention: true", "flash_attention"),
    Option("sdp_attention: true", "sdp_attention"),
    Option("s2_attention: true", "s2_attention"),
    Option("xformers_attention: true", ""),
    Option("load_in_8bit: true", "load_in_8bit"),
    Option("load_in_4bit: true", "load_in_4bit"),
    Option("optimizer: adamw_bnb_8bit", '"bit" in'),
    Option("tf32: true", "tf32"),
]
