"""Reads torch.npu's names and signatures out of torch_npu's sources.

torch_npu can't be imported without Ascend's libraries, so its wheels are read with `ast`. The
result is kept in data/torch_npu_api.csv; a slow test reads the wheels again and compares.
"""

from __future__ import annotations

import ast
import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

VERSIONS = ("2.1.0", "2.1.0.post17", "2.6.0", "2.7.1", "2.13.0")
# What the shim asks torch.npu for beside the names that it mirrors, where torch is before 2.4.
AUTOCAST_STATE = frozenset(["get_autocast_dtype", "is_autocast_enabled"])
TABLE = Path(__file__).parent / "data" / "torch_npu_api.csv"


class Entry(NamedTuple):
    """What a version of torch_npu has under a name: `signature` is "" where ast can't see one."""

    kind: str
    signature: str


if TYPE_CHECKING:
    Api = dict[str, Entry]


def read_table() -> dict[str, Api]:
    """Return the committed table as version -> name -> entry."""
    tables: dict[str, Api] = {version: {} for version in VERSIONS}
    with TABLE.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            tables[row["version"]][row["name"]] = Entry(row["kind"], row["signature"])
    return tables


def write_table(tables: dict[str, Api]) -> None:
    """Write the table that `read_table` reads."""
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["version", "name", "kind", "signature"])
        for version in VERSIONS:
            for name, entry in sorted(tables[version].items()):
                writer.writerow([version, name, entry.kind, entry.signature])


def read_sources(package: Path, names: Iterable[str]) -> Api:
    """Return which of some names torch.npu has; members of mstx and amp come as dotted names."""
    npu = package / "npu"
    api = _names_of_module(npu / "__init__.py")
    for name in _listed(npu / "__init__.py") or ():
        # The legacy tensor types are bound from C++ and only listed.
        api.setdefault(name, Entry("bound", ""))
    api = {name: entry for name, entry in api.items() if name in names}
    amp = _names_of_module(npu / "amp" / "__init__.py")
    api.update({f"amp.{name}": entry for name, entry in amp.items() if name[0] != "_"})
    mstx = npu / "mstx.py"
    if mstx.exists():
        api.update(_methods(mstx, "mstx"))
    return api


def _names_of_module(path: Path) -> Api:
    api: Api = {}
    for node in _statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            source = _names_of_module(_module_path(path.parent, node.module))
            listed = _listed(_module_path(path.parent, node.module))
            for alias in node.names:
                if alias.name != "*":
                    api[alias.asname or alias.name] = source.get(alias.name, Entry("module", ""))
                    continue
                for name in source if listed is None else listed:
                    if name in source and not name.startswith("_"):
                        api[name] = source[name]
        elif isinstance(node, ast.FunctionDef):
            api[node.name] = Entry("function", _signature(node.args))
        elif isinstance(node, ast.ClassDef):
            api[node.name] = Entry("class", _constructor(node))
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    api[target.id] = Entry("attribute", "")
    return api


def _statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """Walk the statements of a module, those of its if and try blocks as well."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.If, ast.Try)):
            yield from _statements(node)
        elif isinstance(node, ast.stmt):
            yield node


def _module_path(folder: Path, module: str) -> Path:
    path = folder.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _listed(path: Path) -> list[str] | None:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names: list[str] = ast.literal_eval(node.value)
            return names
    return None


def _constructor(node: ast.ClassDef) -> str:
    methods = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
    method = methods.get("__new__") or methods.get("__init__")
    return "" if method is None else _signature(method.args, skip_first=True)


def _methods(path: Path, class_name: str) -> Api:
    api: Api = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and node.name == class_name:
            for item in node.body:
                if isinstance(item, ast.FunctionDef) and not item.name.startswith("_"):
                    api[f"{class_name}.{item.name}"] = Entry("function", _signature(item.args))
    return api


def _signature(arguments: ast.arguments, skip_first: bool = False) -> str:
    """Return the parameters with their defaults, without annotations."""
    for argument in _all_arguments(arguments):
        argument.annotation = None
    text = ast.unparse(arguments)
    if not skip_first:
        return f"({text})"
    _, _, rest = text.partition(",")
    return f"({rest.strip()})"


def _all_arguments(arguments: ast.arguments) -> tuple[ast.arg, ...]:
    rest = tuple(argument for argument in (arguments.vararg, arguments.kwarg) if argument)
    return (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest)
