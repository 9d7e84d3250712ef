"""One file through the engine: locate, rewrite, vote, splice, import, guard."""

from __future__ import annotations

import ast
from functools import lru_cache

from porter.engine.findings import import_finding, own_fault, site_finding, unreadable
from porter.engine.fragment import Edit, Fragment, utf8_length
from porter.engine.guards import GuardError, check
from porter.engine.imports import rewrite_import
from porter.engine.inserter import Inserter
from porter.engine.locate import locate
from porter.engine.place import Survey
from porter.engine.prefilter import may_have_sites
from porter.engine.rewriter import Memo, RuleError, memoised
from porter.engine.shim_alias import choose_alias
from porter.engine.source import Source, SourceError
from porter.engine.splice import Change, Spliced
from porter.engine.vote import settle
from porter.model import Finding, Options, Rewrite
from porter.rule import all_rules, by_node_type


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
            return Rewrite(data, (unreadable(error),))
        survey = locate(source, tree)
        changes: list[Change] = []
        try:
            changes, findings = self._port(source, tree, survey)
            if not changes:
                return Rewrite(data, tuple(findings))
            spliced = Spliced(source.data, changes)
            check(source, tree, spliced, survey.extents)
            output = source.encode(spliced.data)
        except (RuleError, GuardError, SourceError, ValueError) as error:
            return Rewrite(data, (own_fault(error, changes),))
        return Rewrite(output, tuple(findings))

    def _port(
        self, source: Source, tree: ast.Module, survey: Survey
    ) -> tuple[list[Change], list[Finding]]:
        shim = self.options.shim
        alias = choose_alias(source, tree, shim)
        outcomes = settle([f.fragment for f in survey.fragments], alias, self._rewrite)
        changes: list[Change] = []
        findings: list[Finding] = []
        for located, outcome in zip(survey.fragments, outcomes, strict=True):
            changes += (_change(source, located.fragment, edit) for edit in outcome.edits)
            findings += (site_finding(source, located.fragment, site) for site in outcome.sites)
        for found in survey.imports:
            change, sites = rewrite_import(source, found, self._imports, shim)
            changes += [change] if change is not None else []
            findings += (import_finding(source, site) for site in sites)
        users = [f for f, o in zip(survey.fragments, outcomes, strict=True) if o.uses_runtime]
        changes += Inserter(source, tree, shim, alias).changes(users)
        findings = [f for f in findings if self.options.wants(f.code)]
        return changes, sorted(findings, key=lambda f: (f.line, f.column, f.code))


@lru_cache(maxsize=8)
def _engine(options: Options) -> Engine:
    return Engine(options)


def rewrite_source(data: bytes, *, options: Options | None = None) -> Rewrite:
    """Port the bytes of one Python file.

    Args:
        data: the file's bytes, in whatever encoding its cookie or BOM declares.
        options: rules to run, and how the shim is imported.

    Returns:
        The new bytes and the findings. Input that can't be processed comes back as it was, with
        one finding of the level ERROR.
    """
    return _engine(options or Options()).rewrite(data)


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
