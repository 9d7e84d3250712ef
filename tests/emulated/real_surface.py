"""Reads the names and parameters of ``torch.npu`` from the real torch_npu's source.

The package can't be imported without the CANN runtime, so its files are parsed. Run as a script,
``real_surface.py PACKAGE_DIRECTORY`` prints the table that lies in ``data/``.
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

VERSION = "2.13.0"
TABLE = Path(__file__).parent / "data" / f"torch_npu-{VERSION}.json"

Parameters = list[str]


def parameters(arguments: ast.arguments, *, skip: int = 0) -> Parameters:
    """Returns "name" or "name=default" for each parameter, with its kind's stars."""
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
    pairs = list(zip(positional, defaults, strict=True))[skip:]
    found = [_parameter(each.arg, default) for each, default in pairs]
    if arguments.vararg:
        found.append(f"*{arguments.vararg.arg}")
    elif arguments.kwonlyargs:
        found.append("*")
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found.append(_parameter(each.arg, default))
    if arguments.kwarg:
        found.append(f"**{arguments.kwarg.arg}")
    return found


def _parameter(name: str, default: ast.expr | None) -> str:
    if default is None:
        return name
    try:
        value = ast.unparse(default)
        return f"{name}={eval(value, {})!r}"
    except NameError:
        return f"{name}={value}"


def _definitions(tree: ast.Module) -> dict[str, Parameters]:
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = parameters(node.args)
        elif isinstance(node, ast.ClassDef):
            makers = {
                item.name: item
                for item in node.body
                if isinstance(item, ast.FunctionDef) and item.name in ("__init__", "__new__")
            }
            maker = makers.get("__new__") or makers.get("__init__")
            if maker:
                found[node.name] = parameters(maker.args, skip=1)
    return found


def surface(package: Path) -> dict[str, Parameters | None]:
    """Maps each name of ``torch_npu.npu.__all__`` to its parameters, None where it isn't callable.

    `package` is the directory of the unpacked torch_npu package.
    """
    init = ast.parse((package / "npu" / "__init__.py").read_text(encoding="utf-8"))
    names = next(
        ast.literal_eval(node.value)
        for node in init.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    defined = _definitions(init)
    # The first module that defines a name wins, in the order in which the package imports them.
    for module in ("utils", "_recovery", "streams", "npu_config", "autocast_utils", "deterministic",
                   "graphs", "random", "memory"):  # fmt: skip
        tree = ast.parse((package / "npu" / f"{module}.py").read_text(encoding="utf-8"))
        for name, found in _definitions(tree).items():
            defined.setdefault(name, found)
    return {name: defined.get(name) for name in sorted(names)}


if __name__ == "__main__":
    print(json.dumps(surface(Path(sys.argv[1])), indent=1))
