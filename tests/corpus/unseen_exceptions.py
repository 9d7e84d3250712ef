"""What the independent count finds and porter rightly says nothing about, kind by kind."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Explanation:
    """Sites of one kind whose line matches need no word from porter; `reason` says why not."""

    kind: str
    line: str
    reason: str
    example: str


EXPLANATIONS = (
    Explanation(
        ".cuda",
        r"\b(?:self|args|opt|options|config|cfg|hparams)\.cuda\b(?!\()",
        "a flag or option of the program's own: its name is part of saved configurations",
        "if args.cuda:",
    ),
    Explanation(
        "import from torch.cuda",
        r"^from torch\.cuda import \(?(?:amp|nvtx|memory|random|profiler|streams|comm|nccl)\b",
        "a module of torch.cuda: what is used of it is counted, and spoken of, where it is used; "
        "the import itself works without CUDA",
        "from torch.cuda import amp",
    ),
    Explanation(
        "torch.backends",
        r"\bcudnn\.(?:benchmark|deterministic|enabled|allow_tf32|flags\()",
        "a switch of cuDNN in a file that has no other site: it does no harm anywhere, and the "
        "file is not even parsed for it",
        "torch.backends.cudnn.benchmark = True",
    ),
    Explanation(
        "environment",
        r"CUBLAS_WORKSPACE_CONFIG",
        "a setting of cuBLAS in a file that has no other site: it does no harm anywhere",
        "os.environ['CUBLAS_WORKSPACE_CONFIG'] = ':4096:8'",
    ),
    Explanation(
        "Hugging Face argument",
        r"^[A-Z0-9_]+ = |^\"[a-z0-9_]+\",?(?:\s*#.*)?$|[=!]= \"|CLASSES\["
        r"|^\"flash_attention_\d\": ",
        "an option's name in an enum, a list, a registry or a comparison: what asks for it is "
        "spoken of, where it is passed on",
        'ADAMW_BNB = "adamw_bnb_8bit"',
    ),
    Explanation(
        "torch.cuda in a string",
        r"\w*state\w*\[\"torch\.cuda\"\]|\"torch\.cuda\"(?::| in )",
        "the key of a saved state, which has to stay for old checkpoints to load",
        'if "torch.cuda" in rng_state_dict:',
    ),
    Explanation(
        "device string",
        r"path\.join\(\"cuda\"",
        "a folder of source files",
        'os.path.join("cuda", "ms_deform_attn_cuda.cu"),',
    ),
    Explanation(
        "integer device",
        r"^device=gpu_id,$|Evaluator\([^)]*device=gpu_id\)",
        "Chainer's updater and evaluators count GPUs; the file doesn't import torch",
        "trainer.extend(LMEvaluator(val_iter, model, device=gpu_id))",
    ),
    Explanation(
        "cpp_extension",
        r"^return .*\bCUDAExtension$",
        "the class is handed on, not used; where it is called, it is spoken of",
        "return BuildExtension, CppExtension, CUDAExtension",
    ),
)


def explained(kind: str, line: str) -> bool:
    """Whether a site's line is explained by those of its kind."""
    return any(e.kind == kind and re.search(e.line, line) for e in EXPLANATIONS)
