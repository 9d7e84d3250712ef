"""The rewriting half of the engine: run all rules over one expression with libcst.

A fragment is the outermost expression of a statement that holds a trigger. Parsing just it costs
time proportional to the sites, not to the file. What a rule makes of a node is a *product*; the
result is the list of the outermost products with their exact places, so that everything else of
the statement stays byte for byte as it was.
"""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from porter.engine.fragment import Fragment, Outcome
from porter.engine.passes import Pass
from porter.engine.products import collect, left
from porter.engine.recursion import recursion_limit
from porter.engine.rulebook import RuleBook, RuleTable
from porter.rule import Context

_TOO_DEEP = "nested too deeply to be rewritten: split the expression, then run porter again"


def rewrite(
    fragment: Fragment, alias: str, rules: RuleTable, vetoed: frozenset[str] = frozenset()
) -> Outcome:
    """Run all rules over a fragment. Pure: the same arguments give the same outcome.

    Args:
        fragment: the expression and what is known of its surroundings.
        alias: the name by which the shim is called in this file.
        rules: the rules by node type.
        vetoed: groups of the vote that lost: their rewrites become Manual.
    """
    if fragment.too_deep:
        return left(fragment, _TOO_DEEP)
    try:
        return _rewrite(fragment, alias, rules, vetoed)
    except RecursionError:
        with recursion_limit(20_000):
            try:
                return _rewrite(fragment, alias, rules, vetoed)
            except RecursionError:
                return left(fragment, _TOO_DEEP)


def _rewrite(fragment: Fragment, alias: str, rules: RuleTable, vetoed: frozenset[str]) -> Outcome:
    try:
        root = _parse(fragment.text)
    except (cst.ParserSyntaxError, cst.CSTValidationError, TypeError) as error:
        # Some it has read and then refuses: `await(x if a else y)`, `not(lambda: x)`.
        why = getattr(error, "message", error)
        return left(fragment, f"libcst cannot parse this expression ({why})")
    try:
        state, tree = _run(root, fragment, alias, rules, vetoed, force_parentheses=False)
    except cst.CSTValidationError:  # `else"cpu"`: no blank where the result needs one
        state, tree = _run(root, fragment, alias, rules, vetoed, force_parentheses=True)
    if not state.products:
        return _unspoken(fragment)
    outcome = collect(fragment, root, tree, state)
    return outcome if outcome.sites else _unspoken(fragment)


def _parse(text: str) -> cst.BaseExpression:
    """Parse the text in parentheses, so that its line breaks survive, and take them off again."""
    root = cst.parse_expression(f"({text})")
    return root.with_changes(lpar=root.lpar[1:], rpar=root.rpar[:-1])


def _run(
    root: cst.BaseExpression,
    fragment: Fragment,
    alias: str,
    rules: RuleTable,
    vetoed: frozenset[str],
    *,
    force_parentheses: bool,
) -> tuple[Pass, cst.CSTNode]:
    ctx = Context(
        alias=alias,
        names=dict(fragment.names),
        fragment_role=fragment.role,
        instances=dict(fragment.instances),
        flags=fragment.flags,
        guards=fragment.guards,
        guard=fragment.guard,
    )
    walk = Pass(ctx, rules, fragment, vetoed)
    walk.force_parentheses = force_parentheses
    tree = root.visit(walk)
    assert isinstance(tree, cst.CSTNode)
    return walk, tree


def _unspoken(fragment: Fragment) -> Outcome:
    """Say so where a name leads to torch.cuda and no rule had an answer."""
    if not fragment.names_cuda:
        return Outcome((), ())
    return left(fragment, "uses torch.cuda in a way that porter has no rule for: port it by hand")


Memo = dict[tuple[object, ...], Outcome]


def memoised(memo: Memo, rules: RuleBook) -> Callable[[Fragment, str, frozenset[str]], Outcome]:
    """Return `rewrite` with a memory: the same fragments recur all over a repository."""

    def call(fragment: Fragment, alias: str, vetoed: frozenset[str] = frozenset()) -> Outcome:
        key = (fragment.key, alias, vetoed)
        if key not in memo:
            memo[key] = rewrite(fragment, alias, rules.table(fragment), vetoed)
        return memo[key]

    return call
