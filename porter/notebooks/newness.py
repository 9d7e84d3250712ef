"""Which lines of a notebook are new to its code: its JSON text hides that from a diff of lines.

The last line of a source gets a comma when another one follows it, and all cells look alike.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from porter.notebooks.document import Document, NotebookError


def new_lines(before: bytes, after: bytes) -> list[range] | None:
    """Return the lines of a notebook's text that hold code which it didn't before.

    Lines that differ in blanks alone are the same, as for git where porter asks it.

    Args:
        before: the old notebook.
        after: the new one.

    Returns:
        Ranges of line numbers, from 1, ascending; None where one of the two is no notebook.
    """
    try:
        old, new = (list(_code(Document(data))) for data in (before, after))
    except NotebookError:
        return None
    matcher = difflib.SequenceMatcher(
        None, [text for _, text in old], [text for _, text in new], autojunk=False
    )
    return [
        range(line, line + 1)
        for kind, _, _, start, end in matcher.get_opcodes()
        if kind != "equal"
        for line, _ in new[start:end]
    ]


def _code(document: Document) -> Iterator[tuple[int, str]]:
    """Yield the lines of all code cells that are not blank: their place, and their words."""
    for cell in document.cells:
        extents = document.extents(cell)
        at = 0
        for line in cell.source.splitlines(keepends=True):
            words = "".join(line.split())
            if words:
                yield document.lines.place(extents[at][0])[0], words
            at += len(line)
