"""The guards stop what a faulty rule or engine could do to a file."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from porter.engine import rewrite_source
from porter.engine.chunks import changed_chunks
from porter.engine.guards import GuardError, check
from porter.engine.locate import locate
from porter.engine.source import Source, SourceError
from porter.engine.splice import Change, Spliced

TEXT = b"""\
import torch

def f(x, y):
    z = (x + 1).cuda()  # one
    w = g(
        y.cuda(),  # two
        (z  # three
         .cuda()),
    )
    return z.cuda() if z else"cpu"
"""


def prepare(text: bytes) -> tuple[Source, ast.Module, list[Change], list[tuple[int, int]]]:
    """Return what the guards get to see, before anything is broken."""
    source = Source.decode(text)
    tree = source.parse()
    survey = locate(source, tree)
    changes = rewrite_source(text).changes
    return source, tree, [*changes], survey.extents


def stopped(
    source: Source, tree: ast.Module, changes: list[Change], extents: list[tuple[int, int]]
) -> bool:
    """Whether the guards refuse the changes."""
    try:
        check(source, tree, Spliced(source.data, changes), extents)
    except (GuardError, SourceError, ValueError):
        return True
    return False


def test_sound_changes_pass() -> None:
    source, tree, changes, extents = prepare(TEXT)
    assert len(changes) == 5
    assert not stopped(source, tree, changes, extents)


@pytest.mark.parametrize("at", range(4))
@pytest.mark.parametrize(("start", "end"), [(-1, 0), (1, 0), (0, -1), (0, 1), (1, 1), (-1, -1)])
def test_a_span_that_is_off_by_one_byte_is_stopped(at: int, start: int, end: int) -> None:
    source, tree, changes, extents = prepare(TEXT)
    one = changes[at]
    changes[at] = replace(one, start=one.start + start, end=one.end + end)
    assert stopped(source, tree, changes, extents)


@pytest.mark.parametrize("at", range(4))
@pytest.mark.parametrize("parenthesis", [b"(", b")"])
def test_a_lost_parenthesis_is_stopped(at: int, parenthesis: bytes) -> None:
    source, tree, changes, extents = prepare(TEXT)
    one = changes[at]
    changes[at] = replace(one, text=one.text.replace(parenthesis, b"", 1))
    assert stopped(source, tree, changes, extents)


def test_a_dropped_comment_is_stopped() -> None:
    source, tree, changes, extents = prepare(TEXT)
    at = next(i for i, c in enumerate(changes) if b"# three" in c.text)
    text = changes[at].text.replace(b"  # three", b"         ")
    changes[at] = replace(changes[at], text=text)
    assert stopped(source, tree, changes, extents)


@pytest.mark.parametrize("name", [b"w =", b"y):", b"f(x", b"torch\n"])
def test_an_edit_outside_of_every_site_is_stopped(name: bytes) -> None:
    source, tree, changes, extents = prepare(TEXT)
    at = TEXT.index(name)
    extra = Change(at, at + 1, b"h", "expression", core=(at, at + 1), new_core=(0, 1))
    assert stopped(source, tree, [*changes, extra], extents)


def test_changes_that_overlap_are_stopped() -> None:
    source, tree, changes, extents = prepare(TEXT)
    assert stopped(source, tree, [*changes, changes[0]], extents)


def test_an_edit_that_swallows_the_next_statement_is_stopped() -> None:
    text = b"x.cuda()\ny.cuda()\n"
    source, tree, changes, extents = prepare(text)
    one = next(c for c in changes if c.kind == "expression")
    rest = [c for c in changes if c.kind != "expression"]
    assert stopped(source, tree, [*rest, replace(one, end=len(text))], extents)


def test_an_edit_that_binds_looser_than_its_place_is_stopped() -> None:
    text = b"a = 1 + x.cuda() * 2\n"
    source, tree, changes, extents = prepare(text)
    at = next(i for i, c in enumerate(changes) if c.kind == "expression")
    changes[at] = replace(changes[at], text=b"x if x else x.to(1)", new_core=(0, 19))
    assert stopped(source, tree, changes, extents)


def test_a_missing_import_line_is_stopped() -> None:
    source, tree, changes, extents = prepare(TEXT)
    at = next(i for i, c in enumerate(changes) if c.kind == "insertion")
    changes[at] = replace(changes[at], text=b"# nothing\n")
    assert stopped(source, tree, changes, extents)


@pytest.mark.parametrize(
    "text",
    [
        "import torch\nx = y.cuda()\n",
        "import torch\n\n\n@d\ndef f(y): return y.cuda()\n\n\nz = y.cuda()",
        "import torch; x = y.cuda(); z = x.cuda()\n",
        "try:\n    import torch\nfinally:\n    pass\nx = y.cuda()\n",
        "if a:\n    import torch\n    x = y.cuda()\nz = 1\n",
        "import torch\nx = 1\n\\\ny = x.cuda()\n",
        '"""Doc."""\nfrom torch import nn\nx = """\n""" + str(y.cuda())  # end',
        'class A:\n    """Doc."""\n\n    def f(y): return y.cuda()\n# end\n    z = 1\n',
        'class A:\n\tx = y.cuda()\n\t@d(a.cuda())\n\tdef f(y):\n\t\treturn """\n"""\nz = y.cuda()',
        "class A(f(y.cuda())):\n    x = y.cuda()\n\n\nclass B:\n    x = 1; z = y.cuda()",
        "class A: x = y.cuda()\nclass B(\n  C): x = y.cuda()\nclass D: \\\n  x = y.cuda()\n",
        "@d\nclass A:\n    x = 1\n    # torch\n    y = x.cuda()  # end\n\nclass B:\n    class C:\n"
        "        x = y.cuda()\n",
    ],
)
def test_the_parts_that_changed_are_those_of_the_whole(text: str) -> None:
    """What is parsed in parts is what parsing the whole new text gives, at the same places."""
    source, tree, changes, _ = prepare(text.encode())
    spliced = Spliced(source.data, changes)
    whole = {
        (ast.dump(s), Source(spliced.data, "utf-8", b"").extent(s))
        for s in ast.walk(ast.parse(spliced.data))
        if isinstance(s, ast.stmt)
    }
    chunks = changed_chunks(source, tree, spliced)
    assert chunks
    for chunk in chunks:
        for statement in chunk.new:
            start, end = chunk.source.extent(statement)
            assert (ast.dump(statement), (chunk.start + start, chunk.start + end)) in whole
    touched = {id(s) for chunk in chunks for s in chunk.old}
    for statement in tree.body:
        if not touched.intersection(map(id, ast.walk(statement))):
            start, end = source.extent(statement)
            assert source.data[start:end] in spliced.data


def test_only_what_changed_is_parsed_again() -> None:
    text = b"import torch\n" + b"def f(): pass\n" * 50 + b"x = y.cuda()\n" + b"z = 1\n" * 50
    source, tree, changes, _ = prepare(text)
    chunks = changed_chunks(source, tree, Spliced(source.data, changes))
    assert sum(len(chunk.old) for chunk in chunks) == 2


def test_only_what_changed_of_a_class_is_parsed_again() -> None:
    methods = b"    def f(): pass\n" * 50
    text = b"import torch\nclass A:\n" + methods + b"    x = y.cuda()\n    z = 1\n"
    source, tree, changes, _ = prepare(text)
    chunks = changed_chunks(source, tree, Spliced(source.data, changes))
    assert sum(len(chunk.old) for chunk in chunks) == 2
