"""What is known of a fragment's surroundings: the flags that rules ask for with `ctx.within`."""

from __future__ import annotations

import ast
import re
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


@dataclass(frozen=True)
class FileFacts:
    """What holds for a whole file.

    `flags` has "owns_cuda:Name" for every class that defines a method `cuda` of its own, or whose
    base in this file does; `scripted` the functions and classes that are handed to
    torch.jit.script by name.
    """

    flags: frozenset[str] = frozenset()
    scripted: frozenset[str] = frozenset()


def file_facts(tree: ast.Module, data: bytes, scope: Scope) -> FileFacts:
    """Collect the facts; walks the tree only where the text gives a reason to."""
    flags: set[str] = set()
    scripted: set[str] = set()
    if b"def cuda" in data or b"cuda =" in data:
        owners: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and (
                _defines(node, "cuda") or any(last_name(b) in owners for b in node.bases)
            ):
                owners.add(node.name)
        flags.update(f"owns_cuda:{name}" for name in owners)
    if b"jit" in data and b"script" in data:
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
    for parameter in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        if parameter.annotation is not None:
            kind = _annotated_class(parameter.annotation)
            if f"owns_cuda:{kind}" in place.flags:
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


def _annotated_class(annotation: ast.expr) -> str:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value.strip()
    return last_name(annotation)


def class_flags(node: ast.ClassDef, scope: Scope, facts: FileFacts) -> frozenset[str]:
    """Return the flags of a class's body."""
    flags = {"class_body", f"class:{node.name}"}
    for base in node.bases:
        qualified = scope.qualified(base) or ""
        name = last_name(base)
        if (
            qualified.endswith("autograd.Function")
            or qualified == "torch.autograd.function.Function"
        ):
            flags.add("autograd_function")
        if name.endswith("Enum") or name in ("IntFlag", "Flag"):
            flags.add("enum")
    return frozenset(flags)


def if_flags(node: ast.If, source: Source, scope: Scope) -> tuple[bool, frozenset[str]]:
    """Return whether the test is negated, and the flags of the statement.

    "guard" where the test asks whether CUDA is there; "npu_aware" where this test, or another one
    of the same ladder, asks for an NPU; "cuda_kernel" where `is_cuda` decides whether the branch
    calls something that has "cuda" in its name.
    """
    start = source.offset(node.test.lineno, node.test.col_offset)
    end = source.offset(node.test.end_lineno or 1, node.test.end_col_offset or 0)
    test = source.data[start:end]
    flags = set()
    negated = isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not)
    if b"is_available" in test and b"cuda" in test:
        flags.add("guard")
    if _ladder_has(node, source, b"npu"):
        flags.add("npu_aware")
    if b".is_cuda" in test:
        start = source.offset(node.body[0].lineno, node.body[0].col_offset)
        end = source.offset(node.body[-1].end_lineno or 1, node.body[-1].end_col_offset or 0)
        if _KERNEL_CALL.search(source.data[start:end]):
            flags.add("cuda_kernel")
    return negated, frozenset(flags)


def _ladder_has(node: ast.If, source: Source, word: bytes) -> bool:
    """Whether a test of the ladder that starts here holds the word."""
    step: ast.stmt | None = node
    while isinstance(step, ast.If):
        start = source.offset(step.test.lineno, step.test.col_offset)
        end = source.offset(step.test.end_lineno or 1, step.test.end_col_offset or 0)
        if word in source.data[start:end]:
            return True
        step = step.orelse[0] if len(step.orelse) == 1 else None
    return False
