"""The name by which a file calls the shim."""

from __future__ import annotations

import ast
import re

from porter.engine.source import Source
from porter.engine.statements import statements
from porter.model import Shim

_IDENTIFIER_FIELDS = ("id", "arg", "name", "asname", "rest")


def choose_alias(source: Source, tree: ast.Module, shim: Shim) -> str:
    """Return the name by which this file calls the shim: the one it has, or a free one."""
    if shim.module.encode() in source.data:
        for node in statements(tree.body):
            if isinstance(node, ast.Import | ast.ImportFrom):
                for name in bound_to_shim(node, shim):
                    return name
    alias = shim.alias.encode()
    # The pattern begins with the plain name, which is what `re` is quick to look for.
    if alias not in source.data or not re.search(
        rb"%s\b(?:(?<=\b%s)|(?<=\bporter_%s))" % ((re.escape(alias),) * 3), source.data
    ):
        return shim.alias
    taken = {getattr(node, field, None) for node in ast.walk(tree) for field in _IDENTIFIER_FIELDS}
    candidates = [shim.alias, f"porter_{shim.alias}"]
    candidates += [f"porter_{shim.alias}_{n}" for n in range(2, len(taken) + 3)]
    return next(c for c in candidates if c not in taken)


def bound_to_shim(node: ast.Import | ast.ImportFrom, shim: Shim) -> list[str]:
    """Return the names that an import statement binds to the shim itself."""
    if isinstance(node, ast.Import):
        return [
            alias.asname or alias.name
            for alias in node.names
            if alias.name == shim.qualified and (alias.asname or "." not in alias.name)
        ]
    if node.level or node.module != shim.package:
        return []
    return [alias.asname or alias.name for alias in node.names if alias.name == shim.module]
