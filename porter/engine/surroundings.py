"""What is known of a fragment's surroundings: the flags that rules ask for with `ctx.within`."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from porter.engine.place import Place
from porter.engine.scope import Scope
from porter.engine.source import Source

_SCRIPT_DECORATORS = frozenset(
    {"torch.jit.script", "torch.jit.script_method", "torch.jit.export", "torch.jit.interface"}
)
_QUANTISED = (b"bnb", b"bitsandbytes", b"Linear8bit", b"Linear4bit", b"Params4bit")

_KERNEL_CALL = re.compile(rb"\b(?!is_)(?:_?cuda_\w+|\w+(?<!to)_cuda)(?:\.\w+)*\(")
"""`roi_cuda.forward(...)`, `ext.cuda_forward(...)`; not `to_cuda(...)`, which moves a tensor."""

_KNOWS_NPU = re.compile(rb"(?<![a-z])(?:npu|hccl)", re.IGNORECASE)
"""`is_npu_available`, `torch.npu`, `MULTI_NPU`; not `input`."""

_MOVES = re.compile(rb"\.(?:cuda|to|to_empty)\(|[\"']cuda")

_ASKS_FOR_CUDA = re.compile(rb"==\s*[\"']cuda[\"']|[\"']cuda[\"']\s*(?:==|in\b)")
_CUDA_ALONE = re.compile(rb"\bcuda\.(?:nvtx|cudart|profiler|nccl|_sleep)\b|\bnvtx\.")


@dataclass(frozen=True)
class FileFacts:
    """What holds for a whole file.

    `flags` has "owns_cuda:Name" for every class that defines a method `cuda` of its own, or whose
    base in this file does, "of_class:.x:Name" for an attribute `x` that holds one of them, and
    "cuda_kernels" where a torch.autograd.Function asks for CUDA; `scripted` the functions and
    classes that are handed to torch.jit.script by name.
    """

    flags: frozenset[str] = frozenset()
    scripted: frozenset[str] = frozenset()


def file_facts(tree: ast.Module, data: bytes, scope: Scope) -> FileFacts:
    """Collect the facts; walks the tree only where the text gives a reason to."""
    flags: set[str] = set()
    scripted: set[str] = set()
    if b"def cuda" in data:
        owners: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and (
                _defines(node, "cuda") or any(last_name(b) in owners for b in node.bases)
            ):
                owners.add(node.name)
        flags.update(f"owns_cuda:{name}" for name in owners)
        flags.update(_typed_attributes(tree, owners) if owners else ())
    if b"autograd" in data and (b".is_cuda" in data or b".type" in data):
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and _is_autograd_function(node, scope):
                flags.update("cuda_kernels" for n in ast.walk(node) if _asks_for_cuda(n))
    if b"jit.script" in data or b"import script" in data:
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and node.args
                and scope.qualified(node.func) == "torch.jit.script"
            ):
                scripted.add(last_name(node.args[0]))
    return FileFacts(frozenset(flags), frozenset(scripted - {""}))


def _defines(node: ast.ClassDef, name: str) -> bool:
    return any(isinstance(s, ast.FunctionDef) and s.name == name for s in node.body)


def _asks_for_cuda(node: ast.AST) -> bool:
    """Whether the node is `x.is_cuda`, or `x.device.type` beside "cuda"."""
    match node:
        case ast.Attribute(attr="is_cuda"):
            return True
        case ast.Compare(left=ast.Attribute(attr="type"), comparators=[ast.Constant(value="cuda")]):
            return True
    return False


def _typed_attributes(tree: ast.Module, owners: set[str]) -> Iterator[str]:
    """Yield the flags of attributes that get an object of one of the classes."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        arguments = {a.arg: mentioned(a.annotation, owners) for a in function.args.args}
        for node in ast.walk(function):
            if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
                continue
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            match node.value:
                case ast.Name(id=name):
                    kind = arguments.get(name, "")
                case ast.Call(func=func) | ast.IfExp(body=ast.Call(func=func)):
                    kind = mentioned(func, owners)
                case _:
                    kind = ""
            if kind and isinstance(target, ast.Attribute):
                yield f"of_class:.{target.attr}:{kind}"


def mentioned(node: ast.expr | None, names: Collection[str]) -> str:
    """Return which of the names stands in an expression or quoted annotation, or ""."""
    for part in ast.walk(node) if node is not None else ():
        match part:
            case ast.Name(id=name) if name in names:
                return name
            case ast.Constant(value=str() as text):
                for word in re.finditer(r"\w+", text):
                    if word.group() in names:
                        return str(word.group())
    return ""


def last_name(node: ast.expr) -> str:
    """Return the last identifier of a name, attribute or call, the key of a subscript, or ""."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=func):
            return last_name(func)
        case ast.Starred(value=value):
            return last_name(value)
        case ast.Subscript(slice=ast.Constant(value=str() as key)):
            return key
        case ast.Subscript(value=value):
            return last_name(value)
    return ""


def is_scripted(
    node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, facts: FileFacts
) -> bool:
    """Whether TorchScript compiles this function."""
    if node.name in facts.scripted:
        return True
    owner = scope.node
    if isinstance(owner, ast.ClassDef) and owner.name in facts.scripted:
        return True
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if scope.qualified(called) in _SCRIPT_DECORATORS:
            return True
    return False


def function_flags(
    node: ast.FunctionDef | ast.AsyncFunctionDef, place: Place, source: Source
) -> frozenset[str]:
    """Return the flags of a function's body.

    Among them is "of_class:x:Batch" for a parameter `x: Batch` of a class that defines `cuda`.
    """
    flags = set()
    owners = {f.removeprefix("owns_cuda:") for f in place.flags if f.startswith("owns_cuda:")}
    if owners:
        for parameter in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            kind = mentioned(parameter.annotation, owners)
            if kind:
                flags.add(f"of_class:{parameter.arg}:{kind}")
    owner = place.scope.node
    if isinstance(owner, ast.ClassDef):
        flags.add(f"method:{node.name}")
    start = source.line_starts[node.lineno - 1]
    end = source.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
    body = source.data[start:end]
    if any(word in body for word in _QUANTISED):
        flags.add("bitsandbytes")
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if place.scope.qualified(called) in ("triton.jit", "triton.heuristics", "triton.autotune"):
            flags.add("triton")
    return frozenset(flags)


def _is_autograd_function(node: ast.ClassDef, scope: Scope) -> bool:
    bases = [scope.qualified(base) or "" for base in node.bases]
    return any(b.endswith(("autograd.Function", "autograd.function.Function")) for b in bases)


def class_flags(node: ast.ClassDef, scope: Scope, facts: FileFacts) -> frozenset[str]:
    """Return the flags of a class's body."""
    flags = {"class_body", f"class:{node.name}"}
    if _is_autograd_function(node, scope):
        flags.add("autograd_function")
    for base in node.bases:
        name = last_name(base)
        if name.endswith("Enum") or name in ("IntFlag", "Flag"):
            flags.add("enum")
    return frozenset(flags)


def if_flags(node: ast.If, source: Source, scope: Scope) -> tuple[bool, frozenset[str]]:
    """Return whether the test is negated, and the flags of the statement.

    "guard" where the test asks whether CUDA is there, and "moves_nothing:" with the name of the
    guard's vote group where the branch for CUDA moves no data to the device; "npu_aware" where
    this test, or another one of the same ladder, asks for an NPU or its HCCL; "cuda_kernel" where
    `is_cuda` or a comparison with "cuda" decides whether the branch calls something that has
    "cuda" in its name; "cuda_branch" where the test compares with "cuda" and the branch holds
    nothing but what CUDA alone has.
    """
    start = source.offset(node.test.lineno, node.test.col_offset)
    end = source.offset(node.test.end_lineno or 1, node.test.end_col_offset or 0)
    test = source.data[start:end]
    flags = set()
    negated = isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not)
    if b"is_available" in test and b"cuda" in test:
        flags.add("guard")
        branch = node.orelse if negated else node.body
        if not _MOVES.search(_text(branch, source)):
            flags.add(f"moves_nothing:{guard_group(node, source)}")
    if _ladder_knows_npu(node, source):
        flags.add("npu_aware")
    if (b".is_cuda" in test or _ASKS_FOR_CUDA.search(test)) and _KERNEL_CALL.search(
        _text(node.body, source)
    ):
        flags.add("cuda_kernel")
    if _ASKS_FOR_CUDA.search(test) and all(
        _CUDA_ALONE.search(_text([b], source)) for b in node.body
    ):
        flags.add("cuda_branch")
    return negated, frozenset(flags)


def guard_group(node: ast.If, source: Source) -> str:
    """Return the name of the vote group of an availability test and what it guards."""
    return f"guard:{source.offset(node.lineno, node.col_offset)}"


def _text(body: list[ast.stmt], source: Source) -> bytes:
    if not body:
        return b""
    start = source.offset(body[0].lineno, body[0].col_offset)
    end = source.offset(body[-1].end_lineno or 1, body[-1].end_col_offset or 0)
    return source.data[start:end]


def _ladder_knows_npu(node: ast.If, source: Source) -> bool:
    """Whether a test of the ladder that starts here asks for an NPU."""
    step: ast.stmt | None = node
    while isinstance(step, ast.If):
        start = source.offset(step.test.lineno, step.test.col_offset)
        end = source.offset(step.test.end_lineno or 1, step.test.end_col_offset or 0)
        if _KNOWS_NPU.search(source.data, start, end):
            return True
        step = step.orelse[0] if len(step.orelse) == 1 else None
    return False
