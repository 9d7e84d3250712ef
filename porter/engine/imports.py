"""Import statements: names of torch.cuda that the shim mirrors are imported from the shim."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from porter.engine.place import LocatedImport
from porter.engine.source import Source
from porter.engine.splice import Change
from porter.model import Level, Shim
from porter.rule import Imported, ImportOutcome, Manual, Mirrored, Note, Rule

_COMMENTED = (
    "this import mixes names that the shim has with names that it lacks, and has comments inside: "
    "split it into two statements, one for {names}"
)

_BLANK = rb"(?:[ \t\f]|\\\r?\n|\\\r)"
_MODULE = re.compile(rb"\A(from%(blank)s+).+?(%(blank)s+import\b)" % {b"blank": _BLANK}, re.DOTALL)
"""The module of an import, which may have blanks beside its dots."""


@dataclass(frozen=True)
class ImportSite:
    """A finding about one imported name; offsets are into the file's text.

    `start` is where the name stands, `first` where the text begins to change.
    """

    code: str
    level: Level
    message: str
    start: int
    end: int
    first: int
    replacement: str | None = None


@dataclass(frozen=True)
class _Answer:
    alias: ast.alias
    bound: str
    code: str
    outcome: ImportOutcome


def rewrite_import(
    source: Source, found: LocatedImport, rules: Sequence[Rule], shim: Shim
) -> tuple[Change | None, list[ImportSite]]:
    """Ask the import rules about each name of a statement, and rewrite what they say.

    A mirrored name keeps its binding: everything that uses it reads the same object's twin, so
    its uses need no edit. Names that the shim lacks stay imported from torch.
    """
    statement = found.statement
    answers = [_ask(statement, alias, found, rules) for alias in statement.names]
    spoken = [a for a in answers if a.outcome is not None]
    if not spoken:
        return None, []
    mirrored = [a for a in spoken if isinstance(a.outcome, Mirrored)]
    kept = [a.alias for a in answers if not isinstance(a.outcome, Mirrored)]
    change: Change | None = None
    refused = ""
    if mirrored:
        start, end = _extent(source, statement)
        if kept and b"#" in source.data[start:end]:
            refused = _COMMENTED.format(names=", ".join(f"`{a.alias.name}`" for a in mirrored))
        else:
            change = _change(source, statement, mirrored, kept, shim)
    sites = [_site(source, a, shim, refused) for a in spoken]
    return change, sites if change is None else [_spread(s, change) for s in sites]


def _spread(site: ImportSite, change: Change) -> ImportSite:
    """Return the site as large as its change: the statement's head, and all where it is split."""
    if site.level is not Level.REWRITTEN:
        return site
    end = site.end if change.statements == 1 else change.end
    return replace(site, first=change.start, end=end)


def _ask(
    statement: ast.Import | ast.ImportFrom,
    alias: ast.alias,
    found: LocatedImport,
    rules: Sequence[Rule],
) -> _Answer:
    bound = alias.asname or alias.name
    if isinstance(statement, ast.ImportFrom):
        joint = "" if statement.module is None else "."
        qualified = f"{'.' * statement.level}{statement.module or ''}{joint}{alias.name}"
    else:
        qualified = alias.name
    path = found.place.path
    placement = next((p for p in reversed(path) if p != "class"), "module")
    imported = Imported(
        qualified,
        bound,
        isinstance(statement, ast.ImportFrom),
        "try" if placement == "except" else placement,
        found.place.flags,
    )
    for rule in rules:
        assert rule.visit_import is not None
        outcome = rule.visit_import(imported)
        if outcome is not None:
            return _Answer(alias, bound, rule.code, outcome)
    return _Answer(alias, bound, "", None)


def _change(
    source: Source,
    statement: ast.Import | ast.ImportFrom,
    mirrored: list[_Answer],
    kept: list[ast.alias],
    shim: Shim,
) -> Change:
    assert isinstance(statement, ast.ImportFrom), "a module of torch has no twin in the shim"
    start, end = _extent(source, statement)
    if not kept:
        text = source.data[start:end]
        for answer in reversed(mirrored):
            at, until = (o - start for o in _extent(source, answer.alias))
            text = text[:at] + _binding(answer).encode() + text[until:]
        text = _MODULE.sub(rb"\1" + shim.qualified.encode() + rb"\2", text)
        return Change(start, end, text, "import", mirrored[0].code)
    names = ", ".join(f"{a.name} as {a.asname}" if a.asname else a.name for a in kept)
    ours = ", ".join(map(_binding, mirrored))
    line_start = source.line_starts[statement.lineno - 1]
    before = source.data[line_start:start].decode()
    joint = source.newline + before if not before.strip() else "; "
    text = (
        f"from {statement.module} import {names}{joint}from {shim.qualified} import {ours}"
    ).encode()
    return Change(start, end, text, "import", mirrored[0].code, statements=2)


def _binding(answer: _Answer) -> str:
    assert isinstance(answer.outcome, Mirrored)
    attribute = answer.outcome.attribute
    return attribute if attribute == answer.bound else f"{attribute} as {answer.bound}"


def _site(source: Source, answer: _Answer, shim: Shim, refused: str) -> ImportSite:
    start, end = _extent(source, answer.alias)
    match answer.outcome:
        case Mirrored():
            if refused:
                return ImportSite(answer.code, Level.MANUAL, refused, start, end, start)
            text = f"from {shim.qualified} import {_binding(answer)}"
            return ImportSite(answer.code, Level.REWRITTEN, "", start, end, start, text)
        case Note(why=why):
            return ImportSite(answer.code, Level.NOTE, why, start, end, start)
        case Manual(why=why):
            return ImportSite(answer.code, Level.MANUAL, why, start, end, start)
    raise AssertionError(f"no outcome for {answer.bound}")


def _extent(source: Source, node: ast.stmt | ast.alias) -> tuple[int, int]:
    end_line, end_column = node.end_lineno, node.end_col_offset
    assert end_line is not None
    assert end_column is not None
    return source.offset(node.lineno, node.col_offset), source.offset(end_line, end_column)
