"""One file through the engine: locate, rewrite, vote, keep, splice, import, guard."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import libcst as cst

from porter.engine.findings import own_fault, unreadable
from porter.engine.fragment import Edit, Fragment, utf8_length
from porter.engine.guards import GuardError, check
from porter.engine.inserter import Inserter
from porter.engine.keeping import Keeper
from porter.engine.locate import locate
from porter.engine.passes import RuleError
from porter.engine.place import Survey
from porter.engine.pragmas import MARK, Pragmas
from porter.engine.prefilter import may_have_sites
from porter.engine.recursion import recursion_limit
from porter.engine.rewriter import Memo, memoised
from porter.engine.rulebook import RuleBook
from porter.engine.shim_alias import choose_alias
from porter.engine.source import Source, SourceError
from porter.engine.splice import Change, Spliced
from porter.model import Finding, Options, Rewrite
from porter.rule import (
    Context,
    Imported,
    ImportOutcome,
    Manual,
    Note,
    Outcome,
    Rule,
    all_rules,
)

Only = Callable[[Finding], bool]

_TOO_DEEP = (
    "nests too deeply for porter: split the longest expression or chain of `elif`, "
    "or exclude the file"
)


class Engine:
    """The rules of one run, and the memory of the fragments that it has seen."""

    def __init__(self, options: Options) -> None:
        """Take the rules that the options ask for."""
        self.options = options
        rules = [r if options.wants(r.code) else _muted(r) for r in all_rules()]
        self._codes = [r.code for r in rules]
        self._imports = [r for r in rules if r.visit_import is not None]
        self._memo: Memo = {}
        self._rewrite = memoised(self._memo, RuleBook(rules))

    def rewrite(self, data: bytes, only: Only | None = None) -> Rewrite:
        """Port one file's bytes; never raises for what they hold (see `rewrite_source`)."""
        try:
            return self._rewritten(data, only)
        except RecursionError:
            pass
        try:
            with recursion_limit(20_000):
                return self._rewritten(data, only)
        except RecursionError:
            return Rewrite(data, (unreadable(SourceError(_TOO_DEEP)),))

    def _rewritten(self, data: bytes, only: Only | None) -> Rewrite:
        has_sites = may_have_sites(data)
        if not has_sites and MARK not in data:
            return Rewrite(data, ())
        tree: ast.Module | None = None
        try:
            source = Source.decode(data)
            pragmas = Pragmas(source)
            if pragmas.skip_file:
                return Rewrite(data, ())
            if has_sites:
                tree = source.parse()
        except SourceError as error:
            return Rewrite(data, (unreadable(error),))
        keeper = Keeper(source, pragmas, self.options, only)
        changes: list[Change] = []
        output = data
        try:
            if tree is not None:
                survey = locate(source, tree)
                changes = self._port(source, tree, survey, keeper)
                if changes:
                    spliced = Spliced(source.data, changes)
                    check(source, tree, spliced, survey.extents)
                    output = source.encode(spliced.data)
        except (RuleError, GuardError, SourceError, ValueError) as error:
            return Rewrite(data, (own_fault(error, changes),))
        findings = [*keeper.findings, *pragmas.idle(self.options, self._codes)]
        return Rewrite(
            output,
            tuple(sorted((f for f in findings if self.options.wants(f.code)), key=_place)),
            tuple(keeper.suppressed),
            tuple(changes),
        )

    def _port(
        self, source: Source, tree: ast.Module, survey: Survey, keeper: Keeper
    ) -> list[Change]:
        shim = self.options.shim
        alias = choose_alias(source, tree, shim)
        outcomes = keeper.settle([f.fragment for f in survey.fragments], alias, self._rewrite)
        changes: list[Change] = []
        for located, outcome in zip(survey.fragments, outcomes, strict=True):
            changes += (_change(source, located.fragment, edit) for edit in outcome.edits)
        for found in survey.imports:
            changes += keeper.imports(found, self._imports, shim)
        users = [f for f, o in zip(survey.fragments, outcomes, strict=True) if o.uses_runtime]
        return [*changes, *Inserter(source, tree, shim, alias).changes(users)]


def _muted(rule: Rule) -> Rule:
    """Return a rule that rewrites nothing, and still holds others back where it would.

    What keeps a whole expression from being ported in part doesn't depend on who asks.
    """

    def visit(original: cst.CSTNode, updated: cst.CSTNode, ctx: Context) -> Outcome:
        outcome = rule.visit(original, updated, ctx) if rule.visit else None
        return outcome if isinstance(outcome, Manual | Note) else None

    def visit_import(imported: Imported) -> ImportOutcome:
        outcome = rule.visit_import(imported) if rule.visit_import else None
        return outcome if isinstance(outcome, Manual | Note) else None

    return replace(
        rule,
        visit=visit if rule.visit else None,
        visit_import=visit_import if rule.visit_import else None,
    )


@lru_cache(maxsize=8)
def _engine(options: Options) -> Engine:
    return Engine(options)


def rewrite_source(
    data: bytes, *, options: Options | None = None, only: Only | None = None
) -> Rewrite:
    """Port the bytes of one Python file.

    Args:
        data: the file's bytes, in whatever encoding its cookie or BOM declares.
        options: rules to run, and how the shim is imported.
        only: tells which findings are to be rewritten or reported; None means all. What belongs
            together stays together: a site whose group can't change as a whole is left.

    Returns:
        The new bytes and the findings. Input that can't be processed comes back as it was, with
        one finding of the level ERROR.
    """
    return _engine(options or Options()).rewrite(data, only)


def _place(finding: Finding) -> tuple[int, int, str]:
    return finding.line, finding.column, finding.code


def _change(source: Source, fragment: Fragment, edit: Edit) -> Change:
    """Turn a fragment's edit into a change of the file."""
    start, end = fragment.offset(edit.start), fragment.offset(edit.end)
    text = _with_blanks(source.data, start, end, edit.text)
    lead = len(text) - len(text.lstrip())
    core_start, core_end = edit.new_core
    return Change(
        start,
        end,
        text.encode("utf-8"),
        "expression",
        edit.code,
        core=(fragment.offset(edit.core[0]), fragment.offset(edit.core[1])),
        new_core=(
            lead + utf8_length(edit.text, core_start),
            lead + utf8_length(edit.text, core_end),
        ),
    )


def _with_blanks(data: bytes, start: int, end: int, text: str) -> str:
    """Keep an edit from growing together with the word before or behind it: `return"cuda"`."""
    if start and _is_word(data[start - 1 : start]) and _is_word(text[:1].encode()):
        text = f" {text}"
    if _is_word(data[end : end + 1]) and _is_word(text[-1:].encode()):
        text = f"{text} "
    return text


def _is_word(byte: bytes) -> bool:
    return byte.isalnum() or byte == b"_" or byte >= b"\x80"
