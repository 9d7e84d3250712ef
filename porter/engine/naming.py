"""Identifiers in expressions, where only their spelling counts."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection


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


def mentioned(node: ast.expr | None, names: Collection[str]) -> str:
    """Return which of the names stands in an expression or quoted annotation, or ""."""
    for part in ast.walk(node) if node is not None else ():
        match part:
            case ast.Name(id=name) if name in names:
                return name
            case ast.Constant(value=str() as text):
                for word in re.finditer(r"\w+", text):
                    if word.group() in names:
                        return str(word.group())
    return ""
