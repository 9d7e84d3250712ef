"""What is known of a fragment's surroundings: the flags that rules ask for with `ctx.within`."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from porter.engine.facts import (
    FileFacts,
    counts,
    held,
    is_autograd_function,
    names_quantised,
)
from porter.engine.kernels import calls_kernel
from porter.engine.naming import last_name, mentioned
from porter.engine.place import Place
from porter.engine.scope import Scope
from porter.engine.source import Source

_UNAVAILABLE = re.compile(rb"\bnot\s+(?:\w+\.)*is_available\(\)")

_KNOWS_NPU = re.compile(rb"(?<![a-z])(?:npu|hccl)", re.IGNORECASE)
"""`is_npu_available`, `torch.npu`, `MULTI_NPU`; not `input`."""

_MOVES = re.compile(rb"\.(?:cuda|to|to_empty)\(|[\"']cuda")

_ASKING = re.compile(rb"\bget_device_(?:capability|name|properties)\([^\n]*")
"""What tells something of a device, and puts nothing there: `get_device_properties("cuda")`."""

_ASKS_FOR_CUDA = re.compile(
    rb"==\s*(?:(?:\w+\.)?device\()?[\"']cuda[\"']|[\"']cuda[\"']\s*(?:==|in\b)|\bstartswith\([\"']cuda[\"']\)"
)
_CUDA_ALONE = re.compile(rb"\bcuda\.(?:nvtx|cudart|profiler|nccl|_sleep)\b|\bnvtx\.")
_SIMPLE = (ast.Expr, ast.Assign, ast.Import, ast.ImportFrom)
"""Statements that do one thing: `with torch.cuda.nvtx.range("step"):` holds any others."""


def function_flags(
    node: ast.FunctionDef | ast.AsyncFunctionDef, place: Place, source: Source, facts: FileFacts
) -> frozenset[str]:
    """Return the flags of a function's body, those that hold around it included.

    Among them are "of_class:x:Batch" for a parameter `x: Batch` and a variable `x = Batch()` of a
    class that defines `cuda`, "bitsandbytes" where the function names layers of that library, and
    "npu_aware" in the method `cuda` of a class that has a method `npu` as well.
    """
    outer = {f for f in place.flags - {"class_body", "enum"} if not f.startswith("counts:")}
    flags = {"function"}
    if facts.owners:
        for parameter in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            kind = mentioned(parameter.annotation, facts.owners)
            if kind:
                flags.add(f"of_class:{parameter.arg}:{kind}")
        flags.update(held(node.body, facts.owners))
    owner = place.scope.node
    if isinstance(owner, ast.ClassDef):
        flags.add(f"method:{node.name}")
        if node.name == "cuda" and any(getattr(s, "name", "") == "npu" for s in owner.body):
            flags.add("npu_aware")
    start = source.line_starts[node.lineno - 1]
    end = source.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
    body = source.data[start:end]
    flags |= counts(node, body)
    if facts.names_quantised and names_quantised(body):
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


def if_flags(
    node: ast.If, source: Source, facts: FileFacts, ladders: dict[ast.stmt, bool]
) -> tuple[bool, frozenset[str]]:
    """Return whether the test is negated, and the flags of the statement.

    "guard" where the test asks whether CUDA is there, and "moves_nothing:" with the name of the
    guard's vote group where the branch for CUDA moves no data to the device; "npu_aware" where
    this test, or another one of the same ladder, asks for an NPU or its HCCL; "cuda_kernel" where
    `is_cuda` or a comparison with "cuda" decides whether the branch calls or imports something that
    has "cuda" in its name, is called like a compiled extension, or is a function of torch.autograd
    that does so; "cuda_branch" where the test compares with "cuda" and the branch holds nothing but
    what CUDA alone has; "refuses_cuda" where the test and the only statement under it ask whether
    CUDA is wanted but not there.

    `ladders` holds what is known of the file's ladders, and is added to.
    """
    start, end = source.extent(node.test)
    test = source.data[start:end]
    flags = set()
    negated = isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not)
    if b"is_available" in test and b"cuda" in test:
        flags.add("guard")
        guarded = node.orelse if negated else node.body
        if not _moves(guarded, source):
            flags.add(f"moves_nothing:{guard_group(node, source)}")
    if _ladder_knows_npu(node, source, ladders):
        flags.add("npu_aware")
    if b".is_cuda" in test or _ASKS_FOR_CUDA.search(test):
        branch = _text(node.body, source)
        if calls_kernel(branch) or any(f"{k}(".encode() in branch for k in facts.kernels):
            flags.add("cuda_kernel")
    if _ASKS_FOR_CUDA.search(test) and all(
        isinstance(b, _SIMPLE) and _CUDA_ALONE.search(_text([b], source)) for b in node.body
    ):
        flags.add("cuda_branch")
    if _refuses_cuda(node, test, source):
        flags.add("refuses_cuda")
    return negated, frozenset(flags)


def ends_without_cuda(node: ast.stmt, rest: Sequence[ast.stmt], source: Source) -> bool:
    """Whether a function returns here where CUDA is missing, and moves no data in what follows.

    Then the test guards what follows, as if that stood in its other branch.
    """
    match node:
        case ast.If(test=test, body=[*_, ast.Return()], orelse=[]):
            asked = _text([test], source)
            missing = b"cuda" in asked and _UNAVAILABLE.search(asked) is not None
            return missing and not _moves(rest, source)
    return False


def _moves(body: Sequence[ast.stmt], source: Source) -> bool:
    return _MOVES.search(_ASKING.sub(b"", _text(body, source))) is not None


def _refuses_cuda(node: ast.If, test: bytes, source: Source) -> bool:
    """Whether `device == "cuda" and not torch.cuda.is_available()` is written as two statements."""
    match node:
        case ast.If(body=[ast.Assert(test=inner)], orelse=[]):
            unavailable = b"not " + _text([inner], source)
        case ast.If(body=[ast.If(test=inner, orelse=[])], orelse=[]):
            unavailable = _text([inner], source)
        case _:
            return False
    if _ASKS_FOR_CUDA.search(test):
        return _UNAVAILABLE.search(unavailable) is not None
    return bool(_UNAVAILABLE.search(test) and _ASKS_FOR_CUDA.search(unavailable))


def guard_group(node: ast.stmt, source: Source) -> str:
    """Return the name of the vote group of an availability test and what it guards."""
    return f"guard:{source.offset(node.lineno, node.col_offset)}"


def _text(body: Sequence[ast.stmt | ast.expr], source: Source) -> bytes:
    if not body:
        return b""
    start = source.offset(body[0].lineno, body[0].col_offset)
    end = source.offset(body[-1].end_lineno or 1, body[-1].end_col_offset or 0)
    return source.data[start:end]


def _ladder_knows_npu(node: ast.If, source: Source, ladders: dict[ast.stmt, bool]) -> bool:
    """Whether a test of the ladder that starts here asks for an NPU.

    `ladders` keeps the answer for each step: its ends are asked for from every one of them.
    """
    steps: list[ast.If] = []
    step: ast.stmt | None = node
    while isinstance(step, ast.If) and step not in ladders:
        steps.append(step)
        step = step.orelse[0] if len(step.orelse) == 1 else None
    knows = step is not None and ladders.get(step, False)
    for above in reversed(steps):
        start, end = source.extent(above.test)
        knows = knows or _KNOWS_NPU.search(source.data, start, end) is not None
        ladders[above] = knows
    return knows
