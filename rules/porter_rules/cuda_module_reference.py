"""`torch.cuda` itself, handed on as a module."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Note, Outcome, Role, rule
from porter_rules.leaving import NPU_HANDLED
from porter_rules.names import HOMES, shim_name, torch_cuda_name, why_refused
from porter_rules.nodes import string_value

_ESCAPES = (
    "torch.cuda is handed on as a module, so that what is taken from it is not seen here: hand on "
    "the shim (`accel`) if it has every name that is used, or ask "
    "torch.get_device_module(accel.device_type)"
)
_PATCHED = (
    "this replaces a name of torch.cuda, but ported code calls the shim, which took the name from "
    "there at its first use: replace the shim's own name (`accel.<name>`) as well"
)
_BY_NAME = (
    "which name of torch.cuda is looked up is only known when the code runs: take it from the "
    "shim (`getattr(accel, name)`) if all that can come up are names that it has"
)
_THROUGH_ATTRIBUTE = (
    "reaches torch through an attribute, which may hold something else when the code runs: import "
    "torch where it is used, and run porter again"
)
_FALLBACK = Note(
    "already portable: the module is chosen by device type, and torch.cuda only stands in for it"
)
_VERSION_PROBE = Note(
    "asks what the installed torch offers, on every device alike; what depends on it is reported "
    "where it stands"
)


@rule(
    "PTR206",
    on=(cst.Attribute, cst.Call),
    rewrites=[
        (
            "if hasattr(torch.cuda, 'mem_get_info'):\n    free, _ = torch.cuda.mem_get_info()",
            "if hasattr(accel, 'mem_get_info'):\n    free, _ = accel.mem_get_info()",
        ),
        (
            "oom = getattr(torch.cuda, 'OutOfMemoryError', RuntimeError)",
            "oom = getattr(accel, 'OutOfMemoryError', RuntimeError)",
        ),
        (
            "import torch.cuda as tc\nf = getattr(tc, 'ipc_collect')",
            "import torch.cuda as tc\nf = getattr(accel, 'ipc_collect')",
        ),
    ],
    manual=[
        "m = torch.cuda\nm.synchronize()",
        "run(torch.cuda)",
        "modules = {'cuda': torch.cuda, 'cpu': torch.cpu}",
        "m = torch.cuda.memory",
        "self.torch.cuda.empty_cache()",
        "n = backend.torch.cuda.device_count()",
        "f = getattr(torch.cuda, name)",
        "ok = hasattr(torch.cuda, name)",
        "t = getattr(torch.cuda, f'{kind}Tensor')",
        "f = getattr(torch.cuda, 'cudart')",
        "m = getattr(torch, 'cuda')",
        "monkeypatch.setattr(torch.cuda, 'device_count', lambda: 2)",
        "setattr(torch.cuda, 'is_available', f)",
        "with mock.patch.object(torch.cuda, 'is_available', return_value=False):\n    pass",
        "@patch.object(torch.cuda, 'device_count')\ndef test(count): ...",
    ],
    notes=[
        "mod = getattr(torch, dev_type, torch.cuda)",
        "if hasattr(torch.cuda, 'amp'):\n    pass",
        "native = hasattr(torch.cuda, 'CUDAGraph')",
        "if hasattr(torch, 'cuda'):\n    pass",
        "if is_npu_available():\n    m = torch_npu.npu\nelse:\n    m = torch.cuda",
    ],
    valid=[
        "getattr(torch, device.type).synchronize()",
        "torch.cuda.synchronize()",
        "torch.cuda.memory.empty_cache()",
        "cuda = object()\nf(cuda)",
        "hasattr(x, 'cuda')",
        "y = make(torch.cuda.device_count()).torch.cuda()",
    ],
)
def cuda_module_reference(
    original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context
) -> Outcome:
    """Look names up in the shim that were looked up in torch.cuda by hasattr and getattr.

    `hasattr(torch.cuda, "mem_get_info")` becomes `hasattr(accel, "mem_get_info")` for a name that
    the shim mirrors, so that the answer is about the device at hand. On CUDA the shim has such a
    name exactly where torch.cuda has it. A probe for another name (`hasattr(torch.cuda, "amp")`)
    asks for torch's version and stays.

    Any other use of the module itself is left for you: bound to a variable, handed to a function,
    or patched in a test. `getattr(torch, device_type, torch.cuda)` is portable as it is.
    """
    if isinstance(original, cst.Call):
        return _lookup(original, updated, ctx)
    role = ctx.role(original)
    if _reaches_torch(original) and role.kind != "called":  # a module can't be called
        return Manual(_THROUGH_ATTRIBUTE)
    if torch_cuda_name(original, ctx) not in {"", *HOMES - {"graphs"}}:
        return None
    if role.kind == "receiver" or (role.position == 0 and _is_lookup(role.callee)):
        return None
    if ctx.within("npu_aware"):
        return NPU_HANDLED
    if role.callee == "builtins.getattr" and role.position == 2:
        return _FALLBACK
    return Manual(_PATCHED if _patches(role) else _ESCAPES)


def _reaches_torch(node: cst.BaseExpression) -> bool:
    match node:
        case cst.Attribute(
            value=cst.Attribute(attr=cst.Name(value="torch")), attr=cst.Name(value="cuda")
        ):
            return True
    return False


def _is_lookup(callee: str) -> bool:
    return callee in ("builtins.hasattr", "builtins.getattr")


def _patches(role: Role) -> bool:
    return role.callee.rpartition(".")[2] in ("setattr", "delattr", "object", "multiple")


def _lookup(original: cst.Call, updated: cst.CSTNode, ctx: Context) -> Outcome:
    """Judge `hasattr(torch.cuda, "name")` and `getattr(torch.cuda, "name"[, default])`."""
    callee = ctx.callee(original)
    if not _is_lookup(callee) or len(original.args) < 2:
        return None
    name = string_value(original.args[1].value)
    if name == "cuda" and ctx.qualified(original.args[0].value) == "torch":
        return _VERSION_PROBE if callee == "builtins.hasattr" else Manual(_ESCAPES)
    if torch_cuda_name(original.args[0].value, ctx) != "":
        return None
    if ctx.within("npu_aware"):
        return NPU_HANDLED
    if name is None:
        return Manual(_BY_NAME)
    if shim_name(name) != name:
        if callee == "builtins.hasattr":
            return _VERSION_PROBE
        return Manual(why_refused(name) or _ESCAPES)
    assert isinstance(updated, cst.Call)
    module = ctx.runtime(name).value
    first, *rest = updated.args
    return updated.with_changes(args=[first.with_changes(value=module), *rest])
