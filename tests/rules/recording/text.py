"""The text under test, in a world where every name means something."""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import os
import typing
from collections.abc import Callable
from typing import Any

from recording.devices import Device
from recording.values import INDEX, INDEX_NAMES, Recorded, World

_REAL_MODULES = frozenset(
    """
    __future__ abc argparse collections contextlib copy dataclasses enum functools itertools json
    math os re sys types typing warnings
    """.split()
)


class Names(dict[str, Any]):
    """The globals of a text: what it doesn't define is unknown, but for what its name says."""

    def __init__(self, world: World, torch: Recorded, shim: Callable[[], Any]) -> None:
        super().__init__(__name__="__main__", __builtins__=_builtins(world, torch, shim))
        self["__annotations__"] = {}
        self._world = world
        self._torch = torch
        self.made: dict[str, Any] = {}

    def __missing__(self, name: str) -> Any:
        if name in self["__builtins__"]:
            raise KeyError(name)
        self.made[name] = self[name] = self._made(name)
        return self.made[name]

    def _made(self, name: str) -> Any:
        if INDEX_NAMES.fullmatch(name):
            return INDEX
        if name in ("e", "err", "error", "exc"):
            return RuntimeError(self._world.fails or "something else")
        if name in ("use_cuda", "cuda", "flag", "use_amp"):
            return self._world.truth
        if name == "device":
            return Device("cuda:0" if self._world.truth else "cpu")
        if name in ("gpu_ids", "device_ids"):
            return [INDEX]
        real: dict[str, Any] = {"torch": self._torch, "os": os, "functools": functools}
        real |= {"partial": functools.partial, "Optional": typing.Optional}
        return real[name] if name in real else Recorded(self._world, name)


def _builtins(world: World, torch: Recorded, shim: Callable[[], Any]) -> dict[str, Any]:
    def load(
        name: str, where: object = None, local: object = None, names: Any = (), level: int = 0
    ) -> Any:
        top, _, rest = name.partition(".")
        if level == 0 and top in _REAL_MODULES:
            return importlib.import_module(name) if names else importlib.import_module(top)
        if level == 0 and top == "porter_runtime":
            return shim()
        module = torch if level == 0 and top == "torch" else Recorded(world, top)
        return functools.reduce(getattr, rest.split("."), module) if names and rest else module

    def shown(*values: object) -> object:
        world.record("shown", *values)
        return values[0] if values else None

    own: dict[str, Any] = {
        "print": Recorded(world, "print"),
        "open": Recorded(world, "open"),
        "__import__": load,
    }
    own["shown"] = shown
    return {**vars(builtins), **own}


class Showing(ast.NodeTransformer):
    """Makes visible which branches are taken, and what values expressions have."""

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        match node.value:
            case ast.Await() | ast.Yield() | ast.YieldFrom() | ast.Constant(value=str()):
                return node
            case ast.Constant():
                return _shown()
        return _shown(node.value)

    def visit_Pass(self, node: ast.Pass) -> ast.stmt:
        return _shown()

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        return _shown(_truth(node.test))

    def visit_If(self, node: ast.If) -> ast.stmt:
        self.generic_visit(node)
        node.test = _shown(_truth(node.test)).value
        return node


def _shown(*values: ast.expr) -> ast.Expr:
    return ast.Expr(ast.Call(ast.Name("shown", ast.Load()), list(values), []))


def _truth(test: ast.expr) -> ast.expr:
    return ast.Call(ast.Name("bool", ast.Load()), [test], [])
