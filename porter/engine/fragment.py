"""The rewriting half of the engine: run all rules over one expression with libcst.

A fragment is the outermost expression of a statement that holds a trigger. Parsing just it costs
time proportional to the sites, not to the file. What a rule makes of a node is a *product*; the
result is the list of the outermost products with their exact places, so that everything else of
the statement stays byte for byte as it was.
"""

from __future__ import annotations

import re
import sys
import tokenize
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from io import StringIO

import libcst as cst
from libcst._nodes.internal import CodegenState  # the only way to learn where a node's text lies

from porter.engine.precedence import needs_parentheses, parenthesised
from porter.model import Level
from porter.rule import Context, Manual, Note, Role, Rule, Together

RuleTable = Mapping[type[cst.CSTNode], Sequence[Rule]]

UNSPOKEN = "PTR001"
"""The code for what was located, but what no rule had an answer for."""


@dataclass(frozen=True)
class Fragment:
    """An expression as the locating half hands it over; offsets are into the file's UTF-8 text.

    `frozen` says why nothing in it may be rewritten (an assignment target, a TorchScript body);
    `names_cuda` that a name in it leads to torch.cuda, so that some rule has to speak.
    """

    start: int
    end: int
    text: str
    names: tuple[tuple[str, str], ...] = ()
    role: Role = Role("other")
    instances: tuple[tuple[str, str], ...] = ()
    flags: frozenset[str] = frozenset()
    guards: tuple[str, ...] = ()
    guard: str | None = None
    frozen: str = ""
    names_cuda: bool = False

    @property
    def key(self) -> tuple[object, ...]:
        """What the result depends on: everything but the place."""
        return (
            self.text,
            self.names,
            self.role,
            self.instances,
            self.flags,
            self.guards,
            self.guard,
            self.frozen,
            self.names_cuda,
        )


@dataclass(frozen=True)
class Edit:
    """Replace text[start:end] by `text`; offsets in characters of the fragment.

    `core` is the extent of the old expression without its own parentheses, `new_core` that of the
    new one inside `text`: where the guard expects to find them after parsing.
    """

    start: int
    end: int
    text: str
    core: tuple[int, int]
    new_core: tuple[int, int]


@dataclass(frozen=True)
class Site:
    """A finding inside a fragment; offsets in characters of the fragment."""

    code: str
    level: Level
    message: str
    start: int
    end: int
    replacement: str | None = None
    groups: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What became of a fragment."""

    edits: tuple[Edit, ...]
    sites: tuple[Site, ...]
    uses_runtime: bool = False


@dataclass
class _Product:
    """What a rule made of a node, before it is known whether it stays in the tree."""

    rule: Rule
    level: Level
    message: str
    original: cst.CSTNode
    node: cst.CSTNode
    groups: tuple[str, ...] = ()


@dataclass
class _Places(CodegenState):
    """Generates code and notes where the wanted nodes' text lies.

    `spans` include a node's own parentheses, `cores` don't.
    """

    wanted: frozenset[int] = frozenset()
    length: int = 0
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)
    cores: dict[int, tuple[int, int]] = field(default_factory=dict)
    _open: list[tuple[int, int]] = field(default_factory=list)

    def add_token(self, value: str) -> None:
        self.tokens.append(value)
        self.length += len(value)

    def before_codegen(self, node: cst.CSTNode) -> None:
        if id(node) in self.wanted:
            self._open.append((id(node), self.length))

    def after_codegen(self, node: cst.CSTNode) -> None:
        if id(node) in self.wanted:
            key, start = self._open.pop()
            self.spans[key] = (start, self.length)

    def record_syntactic_position(
        self,
        node: cst.CSTNode,
        *,
        start_node: cst.CSTNode | None = None,
        end_node: cst.CSTNode | None = None,
    ) -> AbstractContextManager[None]:
        return self._core(id(node)) if id(node) in self.wanted else _NOTHING

    @contextmanager
    def _core(self, key: int) -> Iterator[None]:
        start = self.length
        yield
        self.cores[key] = (start, self.length)


_NOTHING = nullcontext()
_NEWLINE = re.compile(r"\r\n|\r|\n")


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

    def on_visit(self, node: cst.CSTNode) -> bool:
        self.ctx.stack.append(node)
        return True

    def on_visit_attribute(self, node: cst.CSTNode, attribute: str) -> None:
        pass  # libcst looks for visit_<node>_<attribute> methods here; there are none

    def on_leave_attribute(self, original_node: cst.CSTNode, attribute: str) -> None:
        pass

    def on_leave(  # type: ignore[override]  # libcst's type allows removal, which no rule does
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode:
        self.ctx.stack.pop()
        rules = self.rules.get(type(original_node))
        if rules is None or isinstance(self.ctx.parent, cst.ConcatenatedString):
            return updated_node
        for rule in rules:
            assert rule.visit is not None
            outcome = rule.visit(original_node, updated_node, self.ctx)
            if outcome is not None:
                return self._take(rule, original_node, updated_node, outcome)
        return updated_node

    def _take(
        self,
        rule: Rule,
        original: cst.CSTNode,
        updated: cst.CSTNode,
        outcome: cst.CSTNode | Together | Manual | Note,
    ) -> cst.CSTNode:
        groups: tuple[str, ...] = ()
        if isinstance(outcome, Together):
            groups = outcome.groups
            if self.vetoed.intersection(groups):
                outcome = Manual("left, since a site that it belongs with has to be ported by hand")
            else:
                outcome = outcome.node
        if isinstance(outcome, cst.CSTNode) and self.fragment.frozen:
            outcome = Manual(self.fragment.frozen)
        if isinstance(outcome, Manual):
            kept = original if outcome.whole else updated
            self._add(rule, Level.MANUAL, outcome.why, original, kept, outcome.groups)
            return kept
        if isinstance(outcome, Note):
            self._add(rule, Level.NOTE, outcome.why, original, updated, ())
            return updated
        result = _carry_parentheses(updated, outcome)
        parent, role = self.ctx.parent, self.fragment.role
        if self.force_parentheses or needs_parentheses(original, result, parent, role):
            result = parenthesised(result)
        self._add(rule, Level.REWRITTEN, "", original, result, groups)
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
        self.products.append(_Product(rule, level, message, original, node, groups))


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
    try:
        return _rewrite(fragment, alias, rules, vetoed)
    except RecursionError:
        with _recursion_limit(20_000):
            try:
                return _rewrite(fragment, alias, rules, vetoed)
            except RecursionError:
                return _left(fragment, "nested too deeply to be rewritten: split the expression")


def _rewrite(
    fragment: Fragment, alias: str, rules: RuleTable, vetoed: frozenset[str]
) -> Outcome:
    try:
        root = _parse(fragment.text)
    except cst.ParserSyntaxError as error:
        return _left(fragment, f"libcst cannot parse this expression ({error.message})")
    try:
        state, tree = _run(root, fragment, alias, rules, vetoed, force_parentheses=False)
    except cst.CSTValidationError:  # `else"cpu"`: no blank where the result needs one
        state, tree = _run(root, fragment, alias, rules, vetoed, force_parentheses=True)
    if not state.products:
        return _unspoken(fragment)
    outcome = _collect(fragment, root, tree, state)
    if _lost_comment(fragment.text, outcome.edits):
        return _left(fragment, "porting would lose a comment inside the expression: move it out")
    return outcome if outcome.sites else _unspoken(fragment)


def _parse(text: str) -> cst.BaseExpression:
    """Parse the text in parentheses, so that line breaks and comments survive, and take them off."""
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


def _generate(tree: cst.CSTNode, wanted: frozenset[int], text: str) -> tuple[str, _Places]:
    """Generate the tree's code with the newline that libcst took for the fragment's default."""
    first = _NEWLINE.search(text)
    newline = first.group() if first else "\n"
    state = _Places(default_indent="    ", default_newline=newline, wanted=wanted)
    tree._codegen(state)
    return "".join(state.tokens), state


def _collect(
    fragment: Fragment, root: cst.BaseExpression, tree: cst.CSTNode, walk: _Pass
) -> Outcome:
    """Turn the products that are still in the tree into edits and sites."""
    by_id = {id(p.node): p for p in walk.products}
    anchors = {id(p.original): _anchor(p.original) for p in walk.products}
    wanted_new = frozenset(by_id) | walk.ctx.runtime_nodes
    new_text, new = _generate(tree, wanted_new, fragment.text)
    wanted_old = frozenset(anchors) | frozenset(id(a) for a in anchors.values())
    old_text, old = _generate(root, wanted_old, fragment.text)
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
                start,
                end,
                replacement,
                old.cores.get(id(product.original), (start, end)),
                (core_start - new_start, core_end - new_start),
            )
            if not edits or start >= edits[-1].end:
                edits.append(edit)
        at = old.spans[id(anchors[id(product.original)])][0]
        sites.append(
            Site(
                product.rule.code,
                product.level,
                product.message,
                at,
                end,
                replacement,
                product.groups,
            )
        )
    uses = any(key in new.spans for key in walk.ctx.runtime_nodes)
    return Outcome(tuple(edits), tuple(sites), uses)


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
    site = Site(UNSPOKEN, Level.MANUAL, why, 0, len(fragment.text))
    return Outcome((), (site,))


def _lost_comment(text: str, edits: Sequence[Edit]) -> bool:
    """Whether a comment inside an edit's old text is missing from its new text."""
    if "#" not in text:
        return False
    return any(_comments(text[e.start : e.end]) != _comments(e.text) for e in edits)


def _comments(text: str) -> list[str]:
    """Return the comments of an expression, in order."""
    if "#" not in text:
        return []
    tokens = tokenize.generate_tokens(StringIO(f"({text}\n)").readline)
    return [t.string for t in tokens if t.type == tokenize.COMMENT]


@contextmanager
def _recursion_limit(limit: int) -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, before))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


Memo = dict[tuple[object, ...], Outcome]


def memoised(
    memo: Memo, rules: RuleTable
) -> Callable[[Fragment, str, frozenset[str]], Outcome]:
    """Return `rewrite` with a memory: the same fragments recur all over a repository."""

    def call(fragment: Fragment, alias: str, vetoed: frozenset[str] = frozenset()) -> Outcome:
        key = (fragment.key, alias, vetoed)
        if key not in memo:
            memo[key] = rewrite(fragment, alias, rules, vetoed)
        return memo[key]

    return call
