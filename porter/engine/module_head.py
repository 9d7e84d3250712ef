"""The head of a module: what has to stay first, and behind which import the shim's belongs."""

from __future__ import annotations

import ast


def is_docstring(statement: ast.stmt) -> bool:
    """Whether a statement is a bare string; the first one of a body is its docstring."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def behind_docstring(body: list[ast.stmt]) -> ast.stmt:
    """Return the first statement of a function behind its docstring, or the docstring alone."""
    return body[1] if len(body) > 1 and is_docstring(body[0]) else body[0]


def fixed_statements(body: list[ast.stmt]) -> int:
    """Return the number of statements that have to stay first: docstring and `__future__`."""
    at = 1 if body and is_docstring(body[0]) else 0
    while at < len(body):
        statement = body[at]
        if not (isinstance(statement, ast.ImportFrom) and statement.module == "__future__"):
            break
        at += 1
    return at


def import_to_follow(body: list[ast.stmt]) -> ast.stmt | None:
    """Return the top-level import behind which the shim's import belongs, None where there is none.

    That is the last of the imports of torch that stand together, or the last import of the head;
    a later star import of the head could rebind the shim's name, and comes first.
    """
    head = _head(body)
    first_torch = next((i for i, s in enumerate(body) if is_torch_import(s)), None)
    if first_torch is None:
        imports = [s for s in body[:head] if isinstance(s, ast.Import | ast.ImportFrom)]
        return imports[-1] if imports else None
    last = first_torch
    while last + 1 < len(body) and is_torch_import(body[last + 1]):
        last += 1
    stars = [i for i in range(last + 1, head) if _is_star_import(body[i])]
    return body[max([last, *stars])]


def brings_all(body: list[ast.stmt]) -> bool:
    """Whether a star import stands in the head."""
    return any(map(_is_star_import, body[: _head(body)]))


def is_torch_import(statement: ast.stmt) -> bool:
    """Whether a statement imports torch, something of it, or a project's own name `torch`."""
    match statement:
        case ast.Import(names=names):
            return any(a.name.partition(".")[0] == "torch" for a in names)
        case ast.ImportFrom(module=str() as module, level=0, names=names):
            return module.partition(".")[0] == "torch" or any(a.name == "torch" for a in names)
        case ast.ImportFrom(names=names):
            return any(a.name == "torch" for a in names)
    return False


def _is_star_import(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*"


def _head(body: list[ast.stmt]) -> int:
    """Return the number of statements up to the last import before any definition or loop."""
    last = fixed_statements(body)
    for at, statement in enumerate(body):
        match statement:
            case ast.Import() | ast.ImportFrom():
                last = at + 1
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                break
            case ast.For() | ast.AsyncFor() | ast.While():
                break
    return last
