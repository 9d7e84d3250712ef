"""Which lines of a notebook are new: those with new code, whatever the JSON text looks like."""

from __future__ import annotations

import pytest

from porter.notebooks import lines_of_code, new_lines
from tests.notebooks.notebooks import notebook

OLD = ("import torch", "x = 1\ny = 2", "z = 3")


@pytest.mark.parametrize(
    ("cells", "new"),
    [
        (OLD, []),
        (("import torch", "x = 1\ny = 2\nnew = 1", "z = 3"), ["new = 1"]),
        (("import torch", "x = 1", "y = 2\nz = 3"), []),
        (("import torch", "new = 1", *OLD[1:]), ["new = 1"]),
        (("# markdown\nnew", *OLD), []),
        (("import torch", "if a:\n    x = 1\n    y = 2", "z = 3"), ["if a:"]),
        (("import torch", "x  =  1\n\n\ny = 2", "z = 4"), ["z = 4"]),
        (("import torch", "y = 2"), []),
        (("z = 3", *OLD), ["z = 3"]),
        (("a\x0cb", *OLD), ["a\x0cb"]),
    ],
)
@pytest.mark.parametrize("as_lists", [True, False])
def test_new_code(cells: tuple[str, ...], new: list[str], as_lists: bool) -> None:
    before, after = notebook(*OLD, as_lists=as_lists), notebook(*cells)
    ranges = new_lines(before, after)
    assert ranges is not None
    text = lines_of_code(after)
    lines = [text[line - 1].decode() for each in ranges for line in each]
    assert "".join(lines).split() == "".join(new).split()


def test_what_is_no_notebook_is_left_to_git() -> None:
    assert new_lines(b"{", notebook("x")) is None
    assert new_lines(notebook("x"), b"[]") is None


def test_lines_of_code_are_what_the_strings_say() -> None:
    lines = lines_of_code(b'{\r\n  "a\\t\\u00e9\\n",\r\n  "b" : 1,\r\n "\\ud800",\r\n  "c\n}')
    assert lines == [b"{", "a\té".encode(), b'  "b" : 1,', b"?", b'  "c', b"}"]
