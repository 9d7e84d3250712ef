"""From what the rules made of an expression to its outcome: edits and sites, at their places."""

from __future__ import annotations

import libcst as cst

from porter.engine.fragment import Edit, Fragment, Outcome, Site
from porter.engine.passes import Pass, Product
from porter.engine.places import generate
from porter.model import UNSPOKEN, Level


def collect(fragment: Fragment, root: cst.BaseExpression, tree: cst.CSTNode, walk: Pass) -> Outcome:
    """Turn the products that are still in the tree into edits and sites."""
    by_id = {id(p.node): p for p in walk.products}
    anchors = {id(p.original): _anchor(p.original) for p in walk.products}
    wanted_new = frozenset(by_id) | walk.ctx.runtime_nodes
    new_text, new = generate(tree, wanted_new, fragment.text)
    wanted_old = frozenset(anchors) | frozenset(id(a) for a in anchors.values())
    old_text, old = generate(root, wanted_old, fragment.text)
    if old_text != fragment.text:
        return left(fragment, "libcst does not reproduce this expression's text")

    edits: list[Edit] = []
    sites: list[Site] = []

    def place(item: tuple[int, Product]) -> tuple[int, int]:
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


def left(fragment: Fragment, why: str) -> Outcome:
    """Return the outcome of a fragment that is left to a person as a whole."""
    site = Site(UNSPOKEN, Level.MANUAL, why, 0, len(fragment.text), 0)
    return Outcome((), (site,))
