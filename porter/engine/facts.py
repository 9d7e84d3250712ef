"""What holds for a whole file: classes with a `cuda` of their own, what TorchScript compiles."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from porter.engine.kernels import calls_kernel, kernel_functions, writes_kernels
from porter.engine.naming import last_name, mentioned
from porter.engine.scope import Scope
from porter.engine.source import Source
from porter.engine.statements import statements

_SCRIPT_DECORATORS = frozenset(
    {"torch.jit.script", "torch.jit.script_method", "torch.jit.export", "torch.jit.interface"}
)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_COUNT = b"device_count("
_TAKING = re.compile(rb"(\w+)(?:[ \t]*:[ \t]*[\w.\[\]]+)?\s*=\s*[\w.]*\Z")
_COUNTING = rb"(?:[%%/*]=?|nprocs\s*=|world_size\s*=)[\s(]*(?:\w+\.)*(?:%s)\b"
_ASKS_FOR_CUDA = re.compile(rb"\.is_cuda|\.type\s*[!=]=")

_SCRIPTED = re.compile(rb"script(?:\((?<!\wscript\()| as )")
"""`torch.jit.script(model)`; the decorator has a test of its own."""

_NPU_KEYS = re.compile(rb"\b(\w+)\[[\"']npu[\"']\]\s*=(?!=)")
_TORCH = re.compile(
    rb"^[ \t]*(?:import|from)[ \t][^\n#]*(?<![\w.])torch"
    rb"|^[ \t]*from[ \t]+[\w.]*(?:porter_runtime|_accel)[ \t]+import\b",
    re.MULTILINE,
)
"""Imports of torch, and of names of the shim that were torch's; a port leaves them such."""

_FRAMEWORK = re.compile(
    rb"^[ \t]*(?:import|from)[ \t]+(?:chainer|cupy|jax|mindspore|mxnet|paddle|tensorflow)\b",
    re.MULTILINE,
)

_QUANTISED_LAYERS = re.compile(
    rb"\b(?:(?:bnb|bitsandbytes)\.(?:nn|functional)\b"
    rb"|Linear(?:8bitLt|4bit|FP4|NF4)\b|Params4bit\b|Int8Params\b)"
)

_QUANTISED_WORDS = (b"bnb.", b"bitsandbytes", b"8bitLt", b"4bit")
"""One of these stands in each file that names such layers."""


def names_quantised(text: bytes) -> bool:
    """Whether a text names layers of bitsandbytes, on which `.cuda()` quantises."""
    return any(w in text for w in _QUANTISED_WORDS) and _QUANTISED_LAYERS.search(text) is not None


@dataclass
class FileFacts:
    """What holds for a whole file; collected when it is first asked for, which is rarely."""

    tree: ast.Module
    data: bytes
    scope: Scope

    @cached_property
    def owners(self) -> frozenset[str]:
        """The classes that define a method `cuda` of their own, or whose base in this file does."""
        found: set[str] = set()
        for node in self._classes() if b"def cuda" in self.data else ():
            if _defines(node, "cuda") or any(last_name(base) in found for base in node.bases):
                found.add(node.name)
        return frozenset(found)

    @cached_property
    def differentiates(self) -> bool:
        """Whether the file speaks of torch.autograd."""
        return b"autograd" in self.data

    @cached_property
    def kernels(self) -> frozenset[str]:
        """The functions of torch.autograd that call CUDA's kernels (see `kernel_functions`)."""
        if not self.differentiates or not calls_kernel(self.data):
            return frozenset()
        classes = [node for node in self._classes() if is_autograd_function(node, self.scope)]
        return kernel_functions(classes, self.data)

    def _classes(self) -> Iterator[ast.ClassDef]:
        """Yield the classes of the file in their order."""
        return (s for s in statements(self.tree.body) if isinstance(s, ast.ClassDef))

    @cached_property
    def flags(self) -> frozenset[str]:
        """The flags that hold everywhere in the file.

        "owns_cuda:Name" for each of the owners, "of_class:.x:Name" for an attribute `x` that holds
        one, "of_class:x:Name" for a variable that is declared as one, or gets one outside of
        functions, "kernel:x" for each of the kernels, "cuda_kernels" where a
        torch.autograd.Function asks for CUDA, or the file writes kernels itself,
        "bitsandbytes_module" where statements outside of functions name layers of bitsandbytes,
        "holds_npu:x" for a dict `x` that gets an entry for the NPU, "builds_cuda" where the file
        names CUDAExtension, and "other_framework" where it imports one, and says nothing of torch.
        """
        flags = {f"owns_cuda:{name}" for name in self.owners}
        if self.owners:
            flags.update(_typed_attributes(self.tree, self.owners))
            outside = [s for s in self.tree.body if not isinstance(s, _DEFINITIONS)]
            flags.update(held(outside, self.owners))
        if self.differentiates and _ASKS_FOR_CUDA.search(self.data):
            for node in self._classes():
                if is_autograd_function(node, self.scope):
                    flags.update("cuda_kernels" for n in ast.walk(node) if _asks_for_cuda(n))
        if writes_kernels(self.data):
            flags.add("cuda_kernels")
        flags.update(f"kernel:{name}" for name in self.kernels)
        if self.names_quantised and any(map(_names_quantised, self.tree.body)):
            flags.add("bitsandbytes_module")
        if b"'npu']" in self.data or b'"npu"]' in self.data:
            flags.update(f"holds_npu:{m[1].decode()}" for m in _NPU_KEYS.finditer(self.data))
        if b"CUDAExtension" in self.data:
            flags.add("builds_cuda")
        if not _TORCH.search(self.data) and _FRAMEWORK.search(self.data):
            flags.add("other_framework")
        return frozenset(flags)

    @cached_property
    def names_quantised(self) -> bool:
        """Whether the file names layers of bitsandbytes."""
        return names_quantised(self.data)

    @cached_property
    def scripted(self) -> frozenset[str]:
        """The functions and classes that are handed to torch.jit.script by name."""
        if not _SCRIPTED.search(self.data):
            return frozenset()
        return frozenset(
            last_name(node.args[0])
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Call)
            and node.args
            and self.scope.qualified(node.func) == "torch.jit.script"
        ) - {""}


def module_counts(tree: ast.Module, source: Source) -> frozenset[str]:
    """Return "counts:name" for each variable of a module that must not be 0; see `counts`."""
    if _COUNT not in source.data:
        return frozenset()
    own = [source.extent(s) for s in tree.body if not isinstance(s, _DEFINITIONS)]
    taking = {name for start, end in own for name in _taking_count(source.data[start:end])}
    return _never_zero(tree, source.data, taking)


def counts(function: ast.AST, text: bytes) -> frozenset[str]:
    """Return "counts:name" for each variable of a function that must not be 0.

    Those are divisors, and numbers of processes; they are only looked for where a variable gets
    the number of devices.
    """
    return _never_zero(function, text, set(_taking_count(text)))


def _never_zero(tree: ast.AST, text: bytes, taking: set[bytes]) -> frozenset[str]:
    found: set[str] = set()
    if not taking or not re.search(_COUNTING % b"|".join(sorted(taking)), text):
        return frozenset()
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(op=ast.Mod() | ast.FloorDiv() | ast.Div(), right=value):
                found.update(_factors(value))
            case ast.AugAssign(op=ast.Mod() | ast.FloorDiv() | ast.Div(), value=value):
                found.update(_factors(value))
            case ast.keyword(arg="nprocs" | "world_size", value=value):
                found.update(_factors(value))
    return frozenset(f"counts:{name}" for name in found)


def _taking_count(text: bytes) -> Iterator[bytes]:
    """Yield the names that get the number of devices."""
    at = text.find(_COUNT)
    while at >= 0:
        if found := _TAKING.search(text, max(0, at - 200), at):
            yield found[1]
        at = text.find(_COUNT, at + 1)


def _factors(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        yield from _factors(node.left)
        yield from _factors(node.right)
    else:
        yield last_name(node)


def _names_quantised(statement: ast.stmt) -> bool:
    """Whether a statement that is no definition or import names a layer of bitsandbytes."""
    if isinstance(statement, (*_DEFINITIONS, ast.Import, ast.ImportFrom)):
        return False
    return names_quantised(ast.unparse(statement).encode())


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


def _typed_attributes(tree: ast.Module, owners: frozenset[str]) -> Iterator[str]:
    """Yield the flags of attributes and declared variables that hold an object of one of them."""
    every = list(statements(tree.body))
    fields = {s for c in every if isinstance(c, ast.ClassDef) for s in c.body}
    for declared in every:
        if isinstance(declared, ast.AnnAssign):
            is_field = declared in fields or isinstance(declared.target, ast.Attribute)
            if kind := mentioned(declared.annotation, owners):
                dot = "." if is_field else ""
                yield f"of_class:{dot}{last_name(declared.target)}:{kind}"
    for function in every:
        if not isinstance(function, ast.FunctionDef):
            continue
        arguments = {a.arg: mentioned(a.annotation, owners) for a in function.args.args}
        for node in statements(function.body):
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


def held(body: Sequence[ast.stmt], owners: frozenset[str]) -> Iterator[str]:
    """Yield "of_class:x:Name" for each variable that gets an object of one of the classes."""
    for statement in statements(body):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                if kind := _made(value, owners):
                    yield f"of_class:{name}:{kind}"


def _made(node: ast.expr, owners: frozenset[str]) -> str:
    """Return the class that `Name(...)`, or `Name(...).cuda()` and the like, makes an object of."""
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in owners:
            return name
        case ast.Call(func=ast.Attribute(value=value, attr="cuda" | "to" | "cpu" | "pin_memory")):
            return _made(value, owners)
        case ast.IfExp(body=body, orelse=orelse):
            return _made(body, owners) or _made(orelse, owners)
    return ""


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
