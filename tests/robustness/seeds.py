"""What the fuzzers start from: the rules' examples, the fixtures, and folders of real projects."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from porter.engine import may_have_sites
from porter.rule import all_rules

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"

_LONGEST = 4_000
"""Bytes: files are cut into statements, so that a mutation meets what it is about more often."""


def examples() -> list[bytes]:
    """Return the rules' examples, those before a rewrite and those that are left."""
    texts = {before for rule in all_rules() for before, _ in rule.rewrites}
    for rule in all_rules():
        texts.update((*rule.manual, *rule.notes, *rule.valid))
    return [_line(textwrap.dedent(text)) for text in sorted(texts)]


def pieces(folders: Iterable[Path]) -> list[bytes]:
    """Return the statements with trigger words of the Python files, each with its file's imports.

    A file without such a statement, or that this Python can't parse, gives nothing.
    """
    return [
        piece
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
        if path.is_file()
        for piece in _pieces(path.read_bytes())
    ]


def _pieces(data: bytes) -> Iterator[bytes]:
    if not may_have_sites(data):
        return
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return
    lines = data.splitlines(keepends=True)
    imports = b""
    for statement in tree.body:
        assert statement.end_lineno is not None
        decorators = getattr(statement, "decorator_list", [])
        first = min(each.lineno for each in (statement, *decorators))
        text = b"".join(lines[first - 1 : statement.end_lineno])
        if isinstance(statement, ast.Import | ast.ImportFrom) and len(imports) < _LONGEST // 4:
            imports += _line(text)
        elif may_have_sites(text) and len(text) < _LONGEST:
            yield imports + _line(text)


def _line(text: str | bytes) -> bytes:
    data = text.encode() if isinstance(text, str) else text
    return data if data.endswith(b"\n") else data + b"\n"
