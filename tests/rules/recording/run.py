"""A torch that records what is done with it, on a machine that has CUDA.

Text is executed in a made-up world: every name that it does not define is a `Recorded`, which
takes any call, attribute, index or operator and writes down the calls. `torch` is one too, with
the few parts that have to be real: devices, the availability of CUDA, the classes of mixed
precision. The shim is porter_runtime itself, imported against this torch.

The log tells what reaches torch and the program's own functions: callee, arguments by name and
value, in order. Spelled in one way are what torch itself takes for the same: `x.cuda()` is
`x.to("cuda")`, a device is its text, torch.cuda.amp's names are torch.amp's with "cuda", and
omitted arguments are the defaults of the installed torch's signature. Questions that change
nothing (is_available, device_count, ...) are answered and not written down.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import inspect
import itertools
import os
import sys
import types
import typing
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from recording.devices import of_index
from recording.fake_torch import torch_on_cuda
from recording.text import Names, Showing
from recording.values import Recorded, Trouble, World

_SHIM = ("_names", "_surface", "_backend", "_cpu")
_WORDS_OF_THE_MACHINE = {"LOCAL_RANK": "1", "RANK": "1", "CUDA_VISIBLE_DEVICES": "0,1"}


@contextlib.contextmanager
def _machine(torch: Recorded) -> Iterator[Callable[[], Any]]:
    """Put the recording torch in the place of torch; yield what imports the shim against it."""
    mine = ("torch", "porter_runtime", *(f"porter_runtime.{m}" for m in _SHIM))
    modules = {name: sys.modules[name] for name in mine if name in sys.modules}
    environment = dict(os.environ)

    def forget() -> None:
        for name in mine:
            sys.modules.pop(name, None)

    def shim() -> Any:
        module = importlib.import_module("porter_runtime")
        assert module.device_type == "cuda"
        return module

    try:
        forget()
        os.environ.pop("PORTER_DEVICE", None)
        os.environ.update(_WORDS_OF_THE_MACHINE)
        sys.modules["torch"] = torch  # type: ignore[assignment]  # it is what is imported
        yield functools.lru_cache(shim)
    finally:
        forget()
        sys.modules.update(modules)
        os.environ.clear()
        os.environ.update(environment)


def run(text: str, *, truth: bool, fails: str = "") -> list[str]:
    """Execute a module's text, then its functions and methods; return what was recorded.

    Args:
        text: the module; if it imports the shim it gets porter_runtime, on CUDA.
        truth: the answer to every question that can't be answered.
        fails: the message of the error that calls of `f` raise.

    Raises:
        Trouble: the world is too poor for the text.
    """
    world = World(truth=truth, fails=fails)
    torch = torch_on_cuda(world)
    with _machine(torch) as shim:
        names = Names(world, torch, shim)
        if "porter_runtime" in text:
            shim()
        world.on = True
        tree = ast.fix_missing_locations(Showing().visit(ast.parse(text)))
        for node in [n for c in ast.walk(tree) if isinstance(c, ast.ClassDef) for n in ast.walk(c)]:
            if isinstance(node, ast.Name) and node.id not in names["__builtins__"]:
                names[node.id]  # a class body asks the dict itself, which knows what was asked for
        code = compile(tree, "<text>", "exec", dont_inherit=True)
        _guarded(world, lambda: exec(code, names))
        for name in sorted(names):
            looked_up = name in names.made and names[name] is names.made[name]
            if name != "accel" and not name.startswith("__") and not looked_up:
                _look_at(world, name, names[name], names)
        _annotations(world, "module", names["__annotations__"], names)
    return world.log


def _guarded(world: World, action: Callable[[], object]) -> object:
    """Do something of the text's, whose own errors are part of what it does."""
    try:
        return action()
    except (AttributeError, ImportError, NameError, TypeError, LookupError, SyntaxError) as error:
        raise Trouble(f"{type(error).__name__}: {error}") from error
    except Trouble:
        raise
    except BaseException as error:
        world.record("raises", type(error).__name__, str(error))
        return None


def _look_at(world: World, name: str, value: object, names: Names) -> None:
    """Record a name's value; call what can be called."""
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    if isinstance(value, FunctionType) and value.__globals__ is names:
        _call(world, name, value, names)
    elif isinstance(value, type) and value.__module__ == "__main__":
        for inner, member in sorted(vars(value).items()):
            if not inner.startswith("__") or inner in ("__init__", "__call__"):
                _look_at(world, f"{name}.{inner}", member, names)
    else:
        world.record("bind", name, of_index(value) if name == "device" else value)


def _call(world: World, name: str, function: FunctionType, names: Names) -> None:
    arguments = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.default is not parameter.empty:
            world.record("default", f"{name}.{parameter.name}", parameter.default)
        elif parameter.kind is not parameter.POSITIONAL_ONLY:
            arguments[parameter.name] = names[parameter.name]
    _annotations(world, name, function.__annotations__, names)
    world.record("call", name)
    result = _guarded(world, lambda: function(**arguments))
    if isinstance(result, types.GeneratorType):
        first = functools.partial(itertools.islice, result, 5)
        result = _guarded(world, lambda: list(first()))
    world.record("return", name, result)


def _annotations(world: World, name: str, annotations: dict[str, Any], names: Names) -> None:
    holder = type(name, (), {"__annotations__": annotations})
    hints = _guarded(world, lambda: typing.get_type_hints(holder, names, names))
    if isinstance(hints, dict) and hints:
        world.record("annotations", name, hints)
