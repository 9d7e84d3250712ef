"""Jupyter notebooks: their code is ported where it stands in the JSON text.

    read -> sort out magics -> join the cells to parts -> the engine -> splice -> guard

Importing this package costs nothing; `rewrite_notebook`, `new_lines` and `lines_of_code` are what
it offers.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # at run time not even `typing` is imported: the hook's start-up counts
    from porter.model import Only, Options, Rewrite

__all__ = ["lines_of_code", "new_lines", "rewrite_notebook"]


def rewrite_notebook(data: bytes, *, options: Options, only: Only | None = None) -> Rewrite:
    """Port the bytes of one notebook (see `porter.notebooks.pipeline.rewrite_notebook`)."""
    from porter.notebooks import pipeline

    return pipeline.rewrite_notebook(data, options=options, only=only)


def new_lines(before: bytes, after: bytes) -> list[range] | None:
    """Return the lines with code that is new (see `porter.notebooks.newness.new_lines`)."""
    from porter.notebooks import newness

    return newness.new_lines(before, after)


def lines_of_code(data: bytes) -> list[bytes]:
    """Return the lines of a notebook's text; a string that has a line of its own as what it says.

    Of code these are its lines, which can be compared with what porter would write.
    """
    import json

    lines = data.splitlines()
    for at, line in enumerate(lines):
        text = line.strip().removesuffix(b",")
        if text.startswith(b'"') and text.endswith(b'"'):
            try:
                value = json.loads(text)
            except ValueError:
                continue
            lines[at] = value.rstrip("\n").encode("utf-8", "replace")
    return lines
