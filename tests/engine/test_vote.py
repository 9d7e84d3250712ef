"""What belongs together changes together or not at all."""

from __future__ import annotations

from porter.engine.fragment import Edit, Fragment, Outcome, Site
from porter.engine.vote import settle
from porter.model import Level


def rewriter(groups: dict[str, tuple[str, ...]], left: dict[str, tuple[str, ...]]):  # type: ignore[no-untyped-def]
    """Return a rewriter for fragments that are told apart by their text.

    `groups` says in which groups the rewrite of a fragment takes part, `left` which fragments
    have to be left, and which groups that vetoes.
    """

    def rewrite(fragment: Fragment, alias: str, vetoed: frozenset[str]) -> Outcome:
        text = fragment.text
        mine = groups.get(text, ())
        if text in left or vetoed.intersection(mine):
            site = Site("PTR1", Level.MANUAL, "left", 0, 1, 0, groups=left.get(text, mine))
            return Outcome((), (site,))
        edit = Edit("PTR1", 0, 1, "new", (0, 1), (0, 3))
        return Outcome((edit,), (Site("PTR1", Level.REWRITTEN, "", 0, 1, 0, "new", mine),))

    return rewrite


def ported(names: str, rewrite) -> str:  # type: ignore[no-untyped-def]
    """Return the fragments that were ported."""
    fragments = [Fragment(0, 1, name) for name in names]
    outcomes = settle(fragments, "accel", rewrite)
    return "".join(f.text for f, o in zip(fragments, outcomes, strict=True) if o.edits)


def test_without_groups_everyone_decides_alone() -> None:
    assert ported("abc", rewriter({}, {"b": ()})) == "ac"


def test_one_member_that_is_left_keeps_the_others_back() -> None:
    assert ported("abcd", rewriter({"a": ("g",), "c": ("g",)}, {"b": ("g",)})) == "d"


def test_a_group_without_a_veto_is_ported() -> None:
    assert ported("abc", rewriter({"a": ("g",), "b": ("g",)}, {})) == "abc"


def test_vetoes_spread_through_shared_members() -> None:
    groups = {"a": ("g",), "b": ("g", "h"), "c": ("h",), "d": ("i",)}
    assert ported("abcdx", rewriter(groups, {"x": ("g",)})) == "d"


def test_guards_are_groups_of_the_file(port) -> None:  # type: ignore[no-untyped-def]
    text = """
    import torch
    if torch.cuda.is_available():
        x.cuda()
    """
    assert "if accel.is_available():\n    x.to(accel.device_type)" in port(text)
