"""One file through the engine: locate, rewrite, vote, splice, import, guard."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import lru_cache

from porter.engine.fragment import Memo, memoised
from porter.engine.guards import GuardError, check
from porter.engine.imports import ImportSite, rewrite_import
from porter.engine.inserter import Inserter, choose_alias
from porter.engine.locate import locate
from porter.engine.place import Located
from porter.engine.prefilter import may_have_sites
from porter.engine.source import Source, SourceError
from porter.engine.splice import Change, Spliced
from porter.engine.vote import settle
from porter.model import Finding, Level, Options, Rewrite
from porter.rule import all_rules, by_node_type

UNREADABLE = "PTR000"
"""The code of a file that can't be processed."""


class Engine:
    """The rules of one run, and the memory of the fragments that it has seen."""

    def __init__(self, options: Options) -> None:
        """Take the rules that the options ask for."""
        self.options = options
        rules = [r for r in all_rules() if options.wants(r.code)]
        self._imports = [r for r in rules if r.visit_import is not None]
        self._memo: Memo = {}
        self._rewrite = memoised(self._memo, by_node_type(rules))

    def rewrite(self, data: bytes) -> Rewrite:
        """Port one file's bytes; never raises for what they hold."""
        if not may_have_sites(data):
            return Rewrite(data, ())
        try:
            source = Source.decode(data)
            tree = source.parse()
        except SourceError as error:
            return Rewrite(data, (_failure(error),))
        changes, findings = self._changes(source, tree)
        if not changes:
            return Rewrite(data, tuple(findings))
        try:
            spliced = Spliced(source.data, changes)
            check(source, tree, spliced)
            output = source.encode(spliced.data)
        except (GuardError, SourceError, ValueError) as error:
            return Rewrite(data, (_guard_failure(error, changes),))
        return Rewrite(output, tuple(findings))

    def _changes(self, source: Source, tree: ast.Module) -> tuple[list[Change], list[Finding]]:
        survey = locate(source, tree)
        shim = self.options.shim
        alias = choose_alias(source, tree, shim)
        outcomes = settle([f.fragment for f in survey.fragments], alias, self._rewrite)
        changes: list[Change] = []
        findings: list[Finding] = []
        users: list[Located] = []
        for located, outcome in zip(survey.fragments, outcomes, strict=True):
            to_byte = _to_bytes(located.fragment.text, located.fragment.start)
            codes = {s.replacement: s.code for s in outcome.sites}
            for edit in outcome.edits:
                text = _with_blanks(source.data, to_byte(edit.start), to_byte(edit.end), edit.text)
                lead = len(text) - len(text.lstrip())
                inside = _to_bytes(edit.text, lead)
                changes.append(
                    Change(
                        to_byte(edit.start),
                        to_byte(edit.end),
                        text.encode(),
                        "expression",
                        codes.get(edit.text, ""),
                        (to_byte(edit.core[0]), to_byte(edit.core[1])),
                        (inside(edit.new_core[0]), inside(edit.new_core[1])),
                    )
                )
            if outcome.uses_runtime:
                users.append(located)
            for site in outcome.sites:
                findings.append(
                    _finding(
                        source,
                        site.code,
                        site.level,
                        site.message,
                        to_byte(site.start),
                        to_byte(site.end),
                        site.replacement,
                    )
                )
        for found in survey.imports:
            change, sites = rewrite_import(source, found, self._imports, shim)
            if change is not None:
                changes.append(change)
            findings += (_import_finding(source, s) for s in sites)
        changes += Inserter(source, tree, survey, shim, alias).changes(users)
        findings = [f for f in findings if self.options.wants(f.code)]
        return changes, sorted(findings, key=lambda f: (f.line, f.column, f.code))


@lru_cache(maxsize=8)
def _engine(options: Options) -> Engine:
    return Engine(options)


def rewrite_source(data: bytes, *, path: str = "<string>", options: Options | None = None) -> Rewrite:
    """Port the bytes of one Python file.

    Args:
        data: the file's bytes, in whatever encoding its cookie or BOM declares.
        path: its name, for nothing but the reader of a traceback.
        options: rules to run, and how the shim is imported.

    Returns:
        The new bytes and the findings. Input that can't be processed comes back as it was, with
        one finding of the level ERROR.
    """
    return _engine(options or Options()).rewrite(data)


def _to_bytes(text: str, start: int) -> _Offsets:
    return _Offsets(text, start)


class _Offsets:
    """From character offsets of a fragment to byte offsets of the file."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.start = start
        self.ascii = text.isascii()

    def __call__(self, offset: int) -> int:
        if self.ascii:
            return self.start + offset
        return self.start + len(self.text[:offset].encode("utf-8"))


def _with_blanks(data: bytes, start: int, end: int, text: str) -> str:
    """Keep an edit from growing together with the word before or behind it: `return"cuda"`."""
    if start and _is_word(data[start - 1 : start]) and _is_word(text[:1].encode()):
        text = f" {text}"
    if _is_word(data[end : end + 1]) and _is_word(text[-1:].encode()):
        text = f"{text} "
    return text


def _is_word(byte: bytes) -> bool:
    return byte.isalnum() or byte == b"_" or byte >= b"\x80"


def _finding(
    source: Source,
    code: str,
    level: Level,
    message: str,
    start: int,
    end: int,
    replacement: str | None = None,
) -> Finding:
    line, column = source.position(start)
    end_line, end_column = source.position(end)
    text = source.line_text(line)
    return Finding(code, level, message, line, column, end_line, end_column, text, replacement)


def _import_finding(source: Source, site: ImportSite) -> Finding:
    return _finding(
        source, site.code, site.level, site.message, site.start, site.end, site.replacement
    )


def _failure(error: SourceError) -> Finding:
    line, column = error.line, error.column
    return Finding(UNREADABLE, Level.ERROR, str(error), line, column, line, column)


def _guard_failure(error: Exception, changes: Iterable[Change]) -> Finding:
    code = getattr(error, "code", "") or ", ".join(sorted({c.code for c in changes if c.code}))
    message = (
        f"left as it was, since the new text failed a check ({error}); "
        f"the fault is porter's, in {code}: please report it, and run with --ignore until it is mended"
    )
    return Finding(UNREADABLE, Level.ERROR, message, 1, 1, 1, 1)
