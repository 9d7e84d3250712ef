"""What the object before a dot is, as far as the file tells."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from porter.rule import Context

_OTHER_LIBRARIES = frozenset(
    {"chainer", "cuda", "cupy", "jax", "mxnet", "numba", "pycuda", "taichi", "tensorflow", "tvm"}
)
_SETTINGS = frozenset(
    {"cls", "conf", "env", "FLAGS", "flags", "hps", "namespace", "ns", "options", "params"}
    | {"parsed", "parser", "self", "settings", "state"}
)
_SETTINGS_ENDINGS = ("args", "argv", "config", "configs", "cfg", "hparams", "opt", "opts")


def own_library(node: cst.BaseExpression, ctx: Context) -> bool:
    """Whether the name leads into a library that has a CUDA of its own, such as numba."""
    qualified = ctx.qualified(node)
    if qualified is None or qualified.startswith(("torch.", ".")):
        return False
    root, _, rest = qualified.partition(".")
    return root in _OTHER_LIBRARIES or (not rest and root != "torch")


def is_settings(node: cst.BaseExpression) -> bool:
    """Whether settings go by this name (`args`, `self.cfg`): its attributes are flags."""
    match node:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return name in _SETTINGS or name.lower().endswith(_SETTINGS_ENDINGS)
    return False


def is_class(node: cst.BaseExpression, ctx: Context) -> bool:
    """Whether a name stands for a class: one of this file, or an imported one, by its spelling."""
    qualified = ctx.qualified(node)
    if qualified is None:
        return False
    last = qualified.rpartition(".")[2]
    return qualified == f".{last}" or (last[:1].isupper() and not last.isupper())


def is_tensor_like(node: cst.BaseExpression) -> bool:
    """Whether it can be a tensor: `self`, `cls` and `super()` are objects of the program's own."""
    return not (isinstance(node, cst.Name) and node.value in ("self", "cls")) and not is_super(node)


def is_super(node: cst.BaseExpression) -> bool:
    """Whether it is a call of `super`."""
    return isinstance(node, cst.Call) and getattr(node.func, "value", None) == "super"


def owner_of_cuda(node: cst.BaseExpression, ctx: Context) -> str:
    """Return the class of this file that defines `cuda` and that the object is of, or ""."""
    match node:
        case cst.Call(func=cst.Name(value=name)):
            made_by = name
        case cst.Name(value=name) if name in ctx.instances:
            made_by = ctx.instances[name].removeprefix(".")
        case cst.Name(value="self"):
            return next((c for c in _flagged("class:", ctx) if ctx.within(f"owns_cuda:{c}")), "")
        case cst.Name(value=name):
            return next(_flagged(f"of_class:{name}:", ctx), "")
        case cst.Attribute(attr=cst.Name(value=name)):
            return next(_flagged(f"of_class:.{name}:", ctx), "")
        case _:
            return ""
    return made_by if ctx.within(f"owns_cuda:{made_by}") else ""


def is_storage(receiver: cst.BaseExpression, ctx: Context) -> bool:
    """Whether it goes by that name, or is what a function for `map_location` has to place."""
    match receiver:
        case cst.Name(value="storage"):
            return True
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))):
            return name in ("storage", "untyped_storage", "_typed_storage")
        case cst.Name(value=name):
            match ctx.parent:
                case cst.Lambda(
                    params=cst.Parameters(params=[cst.Param(name=first), cst.Param(default=None)])
                ):
                    return first.value == name
    return False


def _flagged(prefix: str, ctx: Context) -> Iterator[str]:
    return (f.removeprefix(prefix) for f in sorted(ctx.flags) if f.startswith(prefix))
