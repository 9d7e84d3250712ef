"""One walk over an expression, in which every rule sees every node.

What a rule makes of a node is a *product*. Products are recorded as the walk leaves their nodes,
innermost first; which of them stay in the tree is known at its end.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import libcst as cst

from porter.engine.comments import lost_comment
from porter.engine.fragment import Fragment
from porter.engine.precedence import needs_parentheses, parenthesised
from porter.engine.rulebook import RuleTable
from porter.model import Level
from porter.rule import Context, Manual, Note, Ported, Rule

_KEPT = "kept as it is"
_VETOED = (
    "`{text}` changes together with other places of this file, one of which has to be ported by "
    "hand: port that one, then run porter again"
)
_COMMENT = "left, since porting would lose a comment inside: move the comment out of the expression"
_TARGET = "on the NPU it is a call of the shim, to which nothing can be assigned: port this by hand"
_MODULE = cst.Module([])


class RuleError(Exception):
    """A rule failed over an expression; `code` names the rule."""

    def __init__(self, code: str, cause: Exception) -> None:
        super().__init__(f"{type(cause).__name__}: {cause}")
        self.code = code


@dataclass
class Product:
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


class Pass(cst.CSTTransformer):
    """Runs every rule over every node in one walk, innermost first."""

    def __init__(self, ctx: Context, rules: RuleTable, fragment: Fragment, vetoed: frozenset[str]):
        super().__init__()
        self.ctx = ctx
        self.rules = rules
        self.fragment = fragment
        self.vetoed = vetoed
        self.force_parentheses = False
        self.products: list[Product] = []
        self._before: list[int] = []
        self._number = 0

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Enter a node; leaves hold nothing to see."""
        self.ctx.stack.append(node)
        self._before.append(len(self.products))
        return not _is_leaf(type(node))

    def on_visit_attribute(self, node: cst.CSTNode, attribute: str) -> None:
        """Do nothing: libcst would look for visit_<node>_<attribute> methods, of which are none."""

    def on_leave_attribute(self, original_node: cst.CSTNode, attribute: str) -> None:
        """Do nothing, likewise."""

    def on_leave(  # type: ignore[override]  # libcst's type allows removal, which no rule does
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode:
        """Ask the rules about a node; the first that answers decides."""
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
        self.products.append(Product(rule, level, message, original, node, groups, number))


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
