"""What is known of a fragment's surroundings: the flags that rules ask for with `ctx.within`."""

from __future__ import annotations

import ast
import re

from porter.engine.facts import counts, is_autograd_function
from porter.engine.naming import last_name, mentioned
from porter.engine.place import Place
from porter.engine.scope import Scope
from porter.engine.source import Source

_QUANTISED = (b"bnb", b"bitsandbytes", b"Linear8bit", b"Linear4bit", b"Params4bit")

_KERNEL_CALL = re.compile(rb"\b(?!is_)(?:_?cuda_\w+|\w+(?<!to)_cuda)(?:\.\w+)*\(")
"""`roi_cuda.forward(...)`, `ext.cuda_forward(...)`; not `to_cuda(...)`, which moves a tensor."""

_KNOWS_NPU = re.compile(rb"(?<![a-z])(?:npu|hccl)", re.IGNORECASE)
"""`is_npu_available`, `torch.npu`, `MULTI_NPU`; not `input`."""

_MOVES = re.compile(rb"\.(?:cuda|to|to_empty)\(|[\"']cuda")

_ASKS_FOR_CUDA = re.compile(rb"==\s*[\"']cuda[\"']|[\"']cuda[\"']\s*(?:==|in\b)")
_CUDA_ALONE = re.compile(rb"\bcuda\.(?:nvtx|cudart|profiler|nccl|_sleep)\b|\bnvtx\.")


def function_flags(
    node: ast.FunctionDef | ast.AsyncFunctionDef, place: Place, source: Source
) -> frozenset[str]:
    """Return the flags of a function's body, those that hold around it included.

    Among them is "of_class:x:Batch" for a parameter `x: Batch` of a class that defines `cuda`.
    """
    outer = {f for f in place.flags - {"class_body", "enum"} if not f.startswith("counts:")}
    flags: set[str] = set()
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
    if b"device_count" in body:
        flags |= counts(node)
    if any(word in body for word in _QUANTISED):
        flags.add("bitsandbytes")
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if place.scope.qualified(called) in ("triton.jit", "triton.heuristics", "triton.autotune"):
            flags.add("triton")
    return frozenset(outer | flags)


def class_flags(node: ast.ClassDef, scope: Scope) -> frozenset[str]:
    """Return the flags of a class's body."""
    flags = {"class_body", f"class:{node.name}"}
    if is_autograd_function(node, scope):
        flags.add("autograd_function")
    for base in node.bases:
        name = last_name(base)
        if name.endswith("Enum") or name in ("IntFlag", "Flag"):
            flags.add("enum")
    return frozenset(flags)


def if_flags(node: ast.If, source: Source) -> tuple[bool, frozenset[str]]:
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
