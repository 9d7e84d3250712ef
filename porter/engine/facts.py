"""What holds for a whole file: classes with a `cuda` of their own, what TorchScript compiles."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from porter.engine.naming import last_name, mentioned
from porter.engine.scope import Scope

_SCRIPT_DECORATORS = frozenset(
    {"torch.jit.script", "torch.jit.script_method", "torch.jit.export", "torch.jit.interface"}
)


@dataclass(frozen=True)
class FileFacts:
    """What holds for a whole file.

    `flags` has "owns_cuda:Name" for every class that defines a method `cuda` of its own, or whose
    base in this file does, "of_class:.x:Name" for an attribute `x` that holds one of them, and
    "cuda_kernels" where a torch.autograd.Function asks for CUDA, and those of `counts`; `scripted`
    the functions and classes that are handed to torch.jit.script by name.
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
            if isinstance(node, ast.ClassDef) and is_autograd_function(node, scope):
                flags.update("cuda_kernels" for n in ast.walk(node) if _asks_for_cuda(n))
    if b"jit.script" in data or b"import script" in data:
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and node.args
                and scope.qualified(node.func) == "torch.jit.script"
            ):
                scripted.add(last_name(node.args[0]))
    if b"device_count" in data:
        flags |= counts(tree)
    return FileFacts(frozenset(flags), frozenset(scripted - {""}))


def counts(tree: ast.AST) -> set[str]:
    """Return "counts:name" for each variable that must not be 0 in a file or function.

    Those are divisors, and numbers of processes.
    """
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(op=ast.Mod() | ast.FloorDiv() | ast.Div(), right=value):
                found.add(f"counts:{last_name(value)}")
            case ast.AugAssign(op=ast.Mod() | ast.FloorDiv() | ast.Div(), value=value):
                found.add(f"counts:{last_name(value)}")
            case ast.keyword(arg="nprocs" | "world_size", value=value):
                found.add(f"counts:{last_name(value)}")
    return found


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


def is_autograd_function(node: ast.ClassDef, scope: Scope) -> bool:
    """Whether a class is a torch.autograd.Function."""
    bases = [scope.qualified(base) or "" for base in node.bases]
    return any(b.endswith(("autograd.Function", "autograd.function.Function")) for b in bases)


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
