"""An independent count of what hard-codes CUDA: no word of it is porter's.

One walk over `ast`, a flat table of the file's imports, names, strings and keywords; no scopes, no
roles, no trigger words. It errs towards finding too much: what it finds and porter rightly passes
over is explained, kind by kind, in unseen_exceptions.py.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

Position = tuple[int, int]
"""A line, from 1, and a column, from 0, in characters."""

PACKAGES = frozenset(
    """
    apex bitsandbytes causal_conv1d cupy cutlass deepspeed emerging_optimizers fla flash_attn
    flashinfer liger_kernel mamba_ssm modelopt nvidia nvidia_resiliency_ext pycuda pynvml
    sageattention tensorrt tensorrt_llm torchao transformer_engine triton vllm xformers
    """.split()
)
ENVIRONMENT = re.compile(r"(?:CUDA|NCCL|CUBLAS|NVTE|TORCH_NCCL|PYTORCH_CUDA)_[A-Z0-9_]+(?:=|$)")
DEVICE = re.compile(r"cuda(?::.*)?$")
OPTIMIZERS = re.compile(
    r"(?:ao_|paged_)?(?:ada\w+|lion|lamb|sgd|rmsprop)\w*_(?:4bit|8bit|32bit|apex_fused)$"
)
TALKING = re.compile(
    r"print|pprint|log|debug|info|warn(?:ing)?(?:_once)?|error|critical|exception|echo|write|fail|"
    r"skip\w*|rank_zero_\w+|\w*(?:Error|Exception|Warning|Exit)$"
)
PROSE = frozenset({"help", "description", "reason", "msg", "message", "match", "doc", "epilog"})
QUESTIONS = frozenset({"is_autocast_enabled", "get_autocast_gpu_dtype"})
AMP = ("torch.autocast", "torch.amp.", "torch.GradScaler")
QUANTISED = frozenset({"load_in_8bit", "load_in_4bit", "use_flash_attention_2", "tf32"})
RANK = re.compile(r"(?:local_)?rank|gpu(?:_id)?|device_id")
HELPERS = frozenset(
    {"is_torch_bf16_gpu_available", "is_torch_tf32_available", "is_torch_cuda_available"}
)


@dataclass(frozen=True)
class Site:
    """One place that hard-codes CUDA; `bound_at` is the import that gave the name its meaning."""

    kind: str
    start: Position
    end: Position
    bound_at: Position | None = None


@dataclass
class Found:
    """What a file holds: its sites, and how many more words name CUDA without being one.

    `chains` tells, for the place of a chain's last name and the chain's end, where it starts.
    """

    sites: list[Site]
    mentions: int
    chains: dict[tuple[Position, Position], Position]


def count(text: str) -> Found:
    """Return the sites and the number of mentions in a module's text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    walk = _Walk(text.split("\n"), _imports(tree))
    sites = sorted(set(walk.sites_in(tree)), key=lambda s: (s.start, s.end))
    return Found(sites, _mentions(text, sites), walk.chains)


def _mentions(text: str, sites: list[Site]) -> int:
    """Count names, strings and comments that say cuda or nccl and lie in no site."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    words = [t for t in tokens if re.search("cuda|nccl", t.string, re.IGNORECASE) and t.type != 4]
    return sum(
        not any(s.start <= t.end and t.start <= s.end for s in sites)
        for t in words
        if t.type in (tokenize.NAME, tokenize.STRING, tokenize.COMMENT)
    )


@dataclass(frozen=True)
class _Import:
    qualified: str
    alias: ast.alias


def _imports(tree: ast.Module) -> dict[str, _Import]:
    """Return what each imported name means, whichever scope imports it."""
    table: dict[str, _Import] = {"torch": _Import("torch", ast.alias("torch"))}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name if alias.asname else alias.name.partition(".")[0]
                table[alias.asname or top] = _Import(top, alias)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                meaning = f"{node.module}.{alias.name}"
                table[alias.asname or alias.name] = _Import(meaning, alias)
    return table


class _Walk:
    def __init__(self, lines: list[str], imports: dict[str, _Import]) -> None:
        self.lines = lines
        self.imports = imports
        self.parents: list[ast.AST] = []
        self.chains: dict[tuple[Position, Position], Position] = {}

    def sites_in(self, node: ast.AST) -> Iterator[Site]:
        yield from self._of(node)
        self.parents.append(node)
        for child in ast.iter_child_nodes(node):
            yield from self.sites_in(child)
        self.parents.pop()

    def _of(self, node: ast.AST) -> Iterator[Site]:
        if isinstance(node, ast.Attribute | ast.Call):
            named = node.func if isinstance(node, ast.Call) else node
            if isinstance(named, ast.Attribute):
                whole = self._site("", node)
                self.chains[self._tail("", named).start, whole.end] = whole.start
        match node:
            case ast.Import() | ast.ImportFrom():
                yield from self._import(node)
            case ast.Name(ctx=ast.Load()) | ast.Attribute():
                yield from self._name(node)
            case ast.Constant(value=str() as value):
                if not any(isinstance(p, ast.JoinedStr) for p in self.parents[-1:]):
                    yield from self._string(node, value)
            case ast.JoinedStr(values=[ast.Constant(value=str() as value), *_]):
                yield from self._string(node, value)
            case ast.Call():
                yield from self._call(node)

    # Names

    def _import(self, node: ast.Import | ast.ImportFrom) -> Iterator[Site]:
        module = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
        if isinstance(node, ast.ImportFrom) and node.level:
            return
        for alias in node.names:
            name = f"{module}.{alias.name}" if module else alias.name
            if name.partition(".")[0] in PACKAGES or name.startswith("numba.cuda"):
                yield self._site("third-party import", alias)
            elif name.startswith("torch.cuda.") and isinstance(node, ast.ImportFrom):
                yield self._site("import from torch.cuda", alias)
            elif name.startswith("torch.") and name.endswith("ProcessGroupNCCL"):
                yield self._site("nccl", alias)

    def _name(self, node: ast.Name | ast.Attribute) -> Iterator[Site]:
        parent = self.parents[-1]
        if isinstance(parent, ast.Attribute):
            return  # the whole chain is looked at
        chain: ast.expr = node
        while isinstance(chain, ast.Attribute):
            if chain.attr == "is_cuda":
                yield self._tail("is_cuda", chain)
            elif chain.attr == "cuda" and self._means(chain) is None:
                called = chain is node and isinstance(parent, ast.Call) and parent.func is node
                yield self._tail(".cuda()" if called else ".cuda", chain)
            elif chain.attr == "NCCL" and "Backend" in ast.dump(chain.value):
                yield self._tail("nccl", chain)
            elif chain.attr == "CUDA" and "ProfilerActivity" in ast.dump(chain.value):
                yield self._tail("profiler", chain)
            chain = chain.value
        meaning = self._means(node)
        kind = _kind_of_name(meaning) if meaning is not None else None
        if kind == "compiled for the device" and not isinstance(node.ctx, ast.Load):
            kind = None  # a monkeypatch of torch.compile
        if kind is not None:
            yield self._site(kind, node, self._bound_at(node))

    def _means(self, node: ast.expr) -> str | None:
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.imports:
            return None
        return ".".join([self.imports[node.id].qualified, *reversed(parts)])

    def _bound_at(self, node: ast.expr) -> Position | None:
        """Return the import that binds a bare name below torch.cuda."""
        if not isinstance(node, ast.Name):
            return None
        alias = self.imports[node.id].alias
        return self._site("", alias).start if hasattr(alias, "lineno") else None

    # Strings

    def _string(self, node: ast.Constant | ast.JoinedStr, value: str) -> Iterator[Site]:
        kind = _kind_of_string(value, formatted=isinstance(node, ast.JoinedStr))
        if kind is not None and not self._is_prose(node):
            yield self._site(kind, node)

    def _is_prose(self, node: ast.AST) -> bool:
        """Whether people read the string: a docstring, a message, a help text."""
        inner = node
        for parent in reversed(self.parents):
            match parent:
                case ast.Expr() | ast.Raise():
                    return True
                case ast.Assert(msg=message) if message is inner:
                    return True
                case ast.keyword(arg=name) if name in PROSE:
                    return True
                case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                    return inner is not parent.func and TALKING.match(name) is not None
                case ast.Compare() | ast.Subscript() | ast.stmt():
                    return False
            inner = parent
        return False

    # Calls

    def _call(self, node: ast.Call) -> Iterator[Site]:
        name = _last_name(node.func)
        meaning = self._means(node.func) or ""
        keywords = {k.arg: k for k in node.keywords if k.arg}
        given = len(node.args) + len(node.keywords)
        parent = self.parents[-1]
        says_where = "map_location" in keywords or any(k.arg is None for k in node.keywords)
        if meaning in ("torch.load", "torch.jit.load") and len(node.args) == 1 and not says_where:
            yield self._site("load without map_location", node.func)
        if name == "pin_memory" and isinstance(node.func, ast.Attribute):
            yield self._tail("pin_memory", node.func)
        if name == "to" and node.args and _is_index(node.args[0]):
            yield self._site("integer device", node.args[0])
        if name == "get_device" and not given and not meaning and isinstance(parent, ast.Call):
            yield self._tail("integer device", node.func)
        if name == "record_stream" and isinstance(node.func, ast.Attribute):
            yield self._tail("record_stream", node.func)
        if meaning.endswith(("random.fork_rng", "SyncBatchNorm.convert_sync_batchnorm")):
            yield self._site(name, node.func)
        if name in ("get_context", "set_start_method") and "multiprocessing" in meaning:
            yield from (self._site("fork", a) for a in node.args if _is_string(a, "fork"))
        if meaning.startswith("torch.") and name in QUESTIONS and not given:
            yield self._site("amp", node.func)
        if meaning in ("torch.amp.GradScaler", "torch.GradScaler") and not node.args:
            yield self._site("amp", node.func)
        if meaning.startswith("torch.nn.") and meaning.endswith((".DataParallel", "data_parallel")):
            yield self._site("DataParallel", node.func)
        for arg, keyword in keywords.items():
            kind = self._kind_of_keyword(arg, keyword.value, name, meaning)
            if kind is not None:
                yield self._site(kind, keyword)

    def _kind_of_keyword(self, arg: str, value: ast.expr, name: str, meaning: str) -> str | None:
        off = isinstance(value, ast.Constant) and value.value in (None, False, 0)
        literal = isinstance(value, ast.Constant | ast.List | ast.Tuple | ast.Dict)
        if arg == "device" and _is_index(value):
            return "integer device"
        if off:
            return None
        if arg in ("device_ids", "output_device") and name != "super":
            return "device_ids" if "DataParallel" in name or name == "DDP" or literal else None
        if arg == "pin_memory" and isinstance(value, ast.Constant):
            return "pin_memory"
        if arg == "use_cuda" and "profile" in name:
            return "profiler"
        if arg in QUANTISED and isinstance(value, ast.Constant):
            return "Hugging Face argument"
        if arg == "gpus" and name.endswith("Trainer"):
            return "Lightning argument"
        if arg == "accelerator" and _is_string(value, "gpu"):
            return "Lightning argument"
        if arg == "device_map" and isinstance(value, ast.Dict):
            return "device_map" if any(map(_is_index, value.values)) else None
        return None

    # Places

    def _tail(self, kind: str, node: ast.expr) -> Site:
        """Return a site at the last name of a chain."""
        end = self._position(node.end_lineno, node.end_col_offset)
        length = len(node.attr) if isinstance(node, ast.Attribute) else 0
        return Site(kind, (end[0], end[1] - length), end)

    def _site(
        self, kind: str, node: ast.expr | ast.alias | ast.keyword, bound_at: Position | None = None
    ) -> Site:
        start = self._position(node.lineno, node.col_offset)
        return Site(kind, start, self._position(node.end_lineno, node.end_col_offset), bound_at)

    def _position(self, line: int | None, column: int | None) -> Position:
        text = self.lines[(line or 1) - 1]
        if text.isascii():
            return line or 1, column or 0
        return line or 1, len(text.encode()[: column or 0].decode(errors="ignore"))


def _is_string(node: ast.expr, value: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == value


def _is_index(node: ast.expr) -> bool:
    """Whether this is an integer, or called like one that says which device."""
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    return RANK.fullmatch(_last_name(node)) is not None


def _last_name(node: ast.expr) -> str:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def _kind_of_name(meaning: str) -> str | None:
    if meaning == "torch.cuda" or meaning.startswith("torch.cuda."):
        return "torch.cuda name"
    if meaning.startswith(("torch.backends.cuda", "torch.backends.cudnn")):
        return "torch.backends"
    if meaning.startswith("torch.version.cuda"):
        return "torch.version.cuda"
    if meaning.startswith("torch._C.") and "cuda" in meaning.lower():
        return "torch._C"
    if meaning == "torch.has_cuda":
        return "torch.cuda name"
    if meaning.startswith("torch.distributed") and "nccl" in meaning.rpartition(".")[2].lower():
        return "nccl"
    if meaning.startswith("torch.utils.cpp_extension.") and meaning.endswith(
        ("CUDAExtension", "load_inline", ".load")
    ):
        return "cpp_extension"
    if meaning in ("triton.jit", "torch.compile"):
        return "compiled for the device"
    if meaning.startswith("transformers.") and meaning.rpartition(".")[2] in HELPERS:
        return "Hugging Face helper"
    return None


def _kind_of_string(value: str, *, formatted: bool) -> str | None:
    if DEVICE.match(value) and not any(c.isspace() for c in value):
        return "device string"
    lowered = value.lower()
    if "out of memory" in lowered or "cuda error" in lowered:
        return "error text"
    if any(c.isspace() for c in value):
        return "nvidia-smi" if lowered.startswith("nvidia-smi") else None
    if lowered in ("nccl", "cuda:nccl,cpu:gloo", "cpu:gloo,cuda:nccl"):
        return "nccl"
    if re.search(r"\btorch\.cuda", value) and "/" not in value:
        return "torch.cuda in a string"
    if ENVIRONMENT.match(value):
        return "environment"
    if value == "nvidia-smi":
        return "nvidia-smi"
    if re.match("flash_attention_[23]$", value):
        return "Hugging Face argument"
    if OPTIMIZERS.match(value) and not formatted:
        return "Hugging Face argument"
    return None
