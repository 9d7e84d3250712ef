"""The rewriting half of the engine: run all rules over one expression with libcst.

A fragment is the outermost expression of a statement that holds a trigger. Parsing just it costs
time proportional to the sites, not to the file. What a rule makes of a node is a *product*; the
result is the list of the outermost products with their exact places, so that everything else of
the statement stays byte for byte as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import libcst as cst

from porter.engine.comments import lost_comment
from porter.engine.fragment import Edit, Fragment, Outcome, Site
from porter.engine.places import generate
from porter.engine.precedence import needs_parentheses, parenthesised
from porter.engine.recursion import recursion_limit
from porter.engine.rulebook import RuleBook, RuleTable
from porter.model import UNSPOKEN, Level
from porter.rule import Context, Manual, Note, Ported, Rule

_KEPT = "kept as it is"
_VETOED = (
    "`{text}` changes together with other places of this file, one of which has to be ported by "
    "hand: port that one, then run porter again"
)
_COMMENT = "left, since porting would lose a comment inside: move the comment out of the expression"
_TARGET = "on the NPU it is a call of the shim, to which nothing can be assigned: port this by hand"
_MODULE = cst.Module([])

_TOO_DEEP = "nested too deeply to be rewritten: split the expression, then run porter again"


class RuleError(Exception):
    """A rule failed over an expression; `code` names the rule."""

    def __init__(self, code: str, cause: Exception) -> None:
        super().__init__(f"{type(cause).__name__}: {cause}")
        self.code = code


@dataclass
class _Product:
    """What a rule made of a node, before it is known whether it stays in the tree."""

    rule: Rule
    level: Level
    message: str
    original: cst.CSTNode
    node: cst.CSTNode
    groups: tuple[str, ...]
    number: int


_LEAF_BASES = (
    cst.BaseParenthesizableWhitespace,
    cst.Name,
    cst.BaseNumber,
    cst.SimpleString,
    cst.Dot,
    cst.Comma,
    cst.AssignEqual,
    cst.BaseBinaryOp,
    cst.BaseBooleanOp,
    cst.BaseCompOp,
    cst.BaseUnaryOp,
    cst.FormattedStringText,
)


@cache  # an abstract class takes long to ask
def _is_leaf(node_type: type[cst.CSTNode]) -> bool:
    """Whether there is nothing but blanks and comments to see in such a node."""
    return issubclass(node_type, _LEAF_BASES)


class _Pass(cst.CSTTransformer):
    """Runs every rule over every node in one walk, innermost first."""

    def __init__(self, ctx: Context, rules: RuleTable, fragment: Fragment, vetoed: frozenset[str]):
        super().__init__()
        self.ctx = ctx
        self.rules = rules
        self.fragment = fragment
        self.vetoed = vetoed
        self.force_parentheses = False
        self.products: list[_Product] = []
        self._before: list[int] = []
        self._number = 0

    def on_visit(self, node: cst.CSTNode) -> bool:
        self.ctx.stack.append(node)
        self._before.append(len(self.products))
        return not _is_leaf(type(node))

    def on_visit_attribute(self, node: cst.CSTNode, attribute: str) -> None:
        pass  # libcst looks for visit_<node>_<attribute> methods here; there are none

    def on_leave_attribute(self, original_node: cst.CSTNode, attribute: str) -> None:
        pass

    def on_leave(  # type: ignore[override]  # libcst's type allows removal, which no rule does
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode:
        self.ctx.stack.pop()
        inside = self._before.pop()
        rules = self.rules.get(type(original_node))
        if rules is None or isinstance(self.ctx.parent, cst.ConcatenatedString):
            return updated_node
        self._number += 1
        for rule in rules:
            outcome = _ask(rule, original_node, updated_node, self.ctx)
            if outcome is not None and not self._is_assigned(original_node):
                return self._take(rule, original_node, updated_node, outcome, inside)
        return updated_node

    def _is_assigned(self, node: cst.CSTNode) -> bool:
        """Whether a comprehension assigns to the node: `[... for x.is_cuda in xs]`."""
        for parent in reversed(self.ctx.stack):
            match parent:
                case cst.CompFor(target=target):
                    return target is node
                case cst.Tuple() | cst.List() | cst.BaseElement():
                    node = parent
                case _:
                    return False
        return False

    def _take(
        self,
        rule: Rule,
        original: cst.CSTNode,
        updated: cst.CSTNode,
        outcome: cst.CSTNode | Ported | Manual | Note,
        inside: int,
    ) -> cst.CSTNode:
        """Record what a rule made of a node; `products[inside:]` are those of nodes inside it."""
        ported = outcome if isinstance(outcome, Ported) else None
        if ported is None and isinstance(outcome, cst.CSTNode):
            ported = Ported(outcome)
        if ported is not None:
            refusal = self._refusal(original, updated, ported)
            if refusal is None:
                result = self._in_place(original, updated, ported.node)
                self._add(rule, Level.REWRITTEN, ported.remark, original, result, ported.groups)
                return result
            outcome = refusal
        assert isinstance(outcome, Manual | Note)
        level = Level.MANUAL if isinstance(outcome, Manual) else Level.NOTE
        groups = outcome.groups if isinstance(outcome, Manual) else ()
        if outcome.whole:  # one reason is enough, but what was vetoed inside stays so
            left = (p for p in self.products[inside:] if p.level is Level.MANUAL)
            groups += tuple(group for product in left for group in product.groups)
            del self.products[inside:]
        kept = original if outcome.whole else updated
        self._add(rule, level, outcome.why, original, kept, groups)
        return kept

    def _refusal(
        self, original: cst.CSTNode, updated: cst.CSTNode, ported: Ported
    ) -> Manual | None:
        """Return why a rewrite can't be had here, None if it can."""
        if self._number in self.fragment.kept:
            return Manual(_KEPT, whole=False, groups=ported.groups)
        if self.fragment.frozen:
            return Manual(self.fragment.frozen, groups=ported.groups)
        is_target = self.fragment.role.kind == "target" and self.ctx.parent is None
        if is_target and not isinstance(ported.node, cst.Attribute):
            return Manual(_TARGET, groups=ported.groups)
        if self.vetoed.intersection(ported.groups):
            text = " ".join(_MODULE.code_for_node(original).split())
            return Manual(_VETOED.format(text=text if len(text) <= 40 else f"{text[:37]}..."))
        if "#" in self.fragment.text:
            result = _carry_parentheses(updated, ported.node)
            before, after = (_MODULE.code_for_node(n) for n in (original, result))
            if lost_comment(before, after):
                return Manual(_COMMENT, groups=ported.groups)
        return None

    def _in_place(
        self, original: cst.CSTNode, updated: cst.CSTNode, node: cst.CSTNode
    ) -> cst.CSTNode:
        """Return the new node with the parentheses that it had, and those that it needs."""
        result = _carry_parentheses(updated, node)
        parent, role = self.ctx.parent, self.fragment.role
        if self.force_parentheses or needs_parentheses(original, result, parent, role):
            return parenthesised(result)
        return result

    def _add(
        self,
        rule: Rule,
        level: Level,
        message: str,
        original: cst.CSTNode,
        node: cst.CSTNode,
        groups: tuple[str, ...],
    ) -> None:
        number = self._number
        self.products.append(_Product(rule, level, message, original, node, groups, number))


def _ask(
    rule: Rule, original: cst.CSTNode, updated: cst.CSTNode, ctx: Context
) -> cst.CSTNode | Ported | Manual | Note | None:
    assert rule.visit is not None
    try:
        return rule.visit(original, updated, ctx)
    except (RecursionError, cst.CSTValidationError):
        raise  # the expression's doing: there is a second try
    except Exception as error:
        raise RuleError(rule.code, error) from error


def _carry_parentheses(updated: cst.CSTNode, result: cst.CSTNode) -> cst.CSTNode:
    """Give a result the parentheses that the node had in the source."""
    own = getattr(updated, "lpar", ())
    if not own:
        return result
    present = {id(p) for p in getattr(result, "lpar", ())}
    if all(id(p) in present for p in own):
        return result
    assert isinstance(result, cst.BaseExpression)
    assert isinstance(updated, cst.BaseExpression)
    return result.with_changes(
        lpar=[*updated.lpar, *result.lpar], rpar=[*result.rpar, *updated.rpar]
    )


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
        return _left(fragment, _TOO_DEEP)
    try:
        return _rewrite(fragment, alias, rules, vetoed)
    except RecursionError:
        with recursion_limit(20_000):
            try:
                return _rewrite(fragment, alias, rules, vetoed)
            except RecursionError:
                return _left(fragment, _TOO_DEEP)


def _rewrite(fragment: Fragment, alias: str, rules: RuleTable, vetoed: frozenset[str]) -> Outcome:
    try:
        root = _parse(fragment.text)
    except (cst.ParserSyntaxError, cst.CSTValidationError, TypeError) as error:
        # Some it has read and then refuses: `await(x if a else y)`, `not(lambda: x)`.
        why = getattr(error, "message", error)
        return _left(fragment, f"libcst cannot parse this expression ({why})")
    try:
        state, tree = _run(root, fragment, alias, rules, vetoed, force_parentheses=False)
    except cst.CSTValidationError:  # `else"cpu"`: no blank where the result needs one
        state, tree = _run(root, fragment, alias, rules, vetoed, force_parentheses=True)
    if not state.products:
        return _unspoken(fragment)
    outcome = _collect(fragment, root, tree, state)
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
) -> tuple[_Pass, cst.CSTNode]:
    ctx = Context(
        alias=alias,
        names=dict(fragment.names),
        fragment_role=fragment.role,
        instances=dict(fragment.instances),
        flags=fragment.flags,
        guards=fragment.guards,
        guard=fragment.guard,
    )
    walk = _Pass(ctx, rules, fragment, vetoed)
    walk.force_parentheses = force_parentheses
    tree = root.visit(walk)
    assert isinstance(tree, cst.CSTNode)
    return walk, tree


def _collect(
    fragment: Fragment, root: cst.BaseExpression, tree: cst.CSTNode, walk: _Pass
) -> Outcome:
    """Turn the products that are still in the tree into edits and sites."""
    by_id = {id(p.node): p for p in walk.products}
    anchors = {id(p.original): _anchor(p.original) for p in walk.products}
    wanted_new = frozenset(by_id) | walk.ctx.runtime_nodes
    new_text, new = generate(tree, wanted_new, fragment.text)
    wanted_old = frozenset(anchors) | frozenset(id(a) for a in anchors.values())
    old_text, old = generate(root, wanted_old, fragment.text)
    if old_text != fragment.text:
        return _left(fragment, "libcst does not reproduce this expression's text")

    edits: list[Edit] = []
    sites: list[Site] = []

    def place(item: tuple[int, _Product]) -> tuple[int, int]:
        start, end = old.spans[id(item[1].original)]
        return start, -end  # the outer one of two that start together comes first

    for key, product in sorted(by_id.items(), key=place):
        if key not in new.spans:
            continue  # superseded: an outer rule replaced what this one made
        start, end = old.spans[id(product.original)]
        new_start, new_end = new.spans[key]
        replacement = None
        if product.level is Level.REWRITTEN:
            replacement = new_text[new_start:new_end]
            core_start, core_end = new.cores.get(key, (new_start, new_end))
            edit = Edit(
                product.rule.code,
                start,
                end,
                replacement,
                old.cores.get(id(product.original), (start, end)),
                (core_start - new_start, core_end - new_start),
            )
            if not edits or start >= edits[-1].end:
                edits.append(edit)
        at = first = old.spans[id(anchors[id(product.original)])][0]
        if replacement is not None:
            first = start + _common_prefix(old_text[start:end], replacement)
        sites.append(
            Site(
                product.rule.code,
                product.level,
                product.message,
                at,
                end,
                min(at, first),
                replacement,
                product.groups,
                product.number,
            )
        )
    uses = any(key in new.spans for key in walk.ctx.runtime_nodes)
    return Outcome(tuple(edits), tuple(sites), uses)


def _common_prefix(one: str, other: str) -> int:
    """Return the number of characters with which both texts begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _anchor(node: cst.CSTNode) -> cst.CSTNode:
    """Return where a reader's eye should go: to `.cuda` at the end of a chain, not to its start."""
    chain = node.func if isinstance(node, cst.Call) else node
    if not isinstance(chain, cst.Attribute):
        return node
    base = chain.value
    while isinstance(base, cst.Attribute):
        base = base.value
    return node if isinstance(base, cst.Name) else chain.attr


def _unspoken(fragment: Fragment) -> Outcome:
    """Say so where a name leads to torch.cuda and no rule had an answer."""
    if not fragment.names_cuda:
        return Outcome((), ())
    return _left(fragment, "uses torch.cuda in a way that porter has no rule for: port it by hand")


def _left(fragment: Fragment, why: str) -> Outcome:
    site = Site(UNSPOKEN, Level.MANUAL, why, 0, len(fragment.text), 0)
    return Outcome((), (site,))


Memo = dict[tuple[object, ...], Outcome]


def memoised(memo: Memo, rules: RuleBook) -> Callable[[Fragment, str, frozenset[str]], Outcome]:
    """Return `rewrite` with a memory: the same fragments recur all over a repository."""

    def call(fragment: Fragment, alias: str, vetoed: frozenset[str] = frozenset()) -> Outcome:
        key = (fragment.key, alias, vetoed)
        if key not in memo:
            memo[key] = rewrite(fragment, alias, rules.table(fragment), vetoed)
        return memo[key]

    return call
