"""Changes to a file's text: what they are, how they are put in, where an old offset ends up."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True)
class Change:
    """Replace data[start:end] by `text`.

    `kind` is one of

    - "expression": one expression becomes another; `core` and `new_core` are their extents without
      their own parentheses, the latter inside `text`;
    - "import": an import statement becomes `statements` of them;
    - "value": a value in a file of configuration becomes another;
    - "insertion": an import statement is put in; `statement_at` is its offset inside `text`,
      `follows` the end of the statement that it stands behind.

    `code` names the rule, for the message where a guard fails.
    """

    start: int
    end: int
    text: bytes
    kind: str
    code: str = ""
    core: tuple[int, int] = (0, 0)
    new_core: tuple[int, int] = (0, 0)
    statements: int = 1
    statement_at: int = 0
    follows: int = -1


class Spliced:
    """The text after all changes, and the map from old offsets to new ones."""

    def __init__(self, data: bytes, changes: Sequence[Change]) -> None:
        """Put in the changes; they don't overlap, in any order.

        Raises:
            ValueError: two changes overlap.
        """
        self.changes = sorted(changes, key=lambda c: (c.start, c.end))
        pieces: list[bytes] = []
        at = 0
        for change in self.changes:
            if change.start < at:
                raise ValueError(f"two changes overlap at byte {change.start}")
            pieces += (data[at : change.start], change.text)
            at = change.end
        pieces.append(data[at:])
        self.data = b"".join(pieces)
        self._starts = [c.start for c in self.changes]
        self._ends = [c.end for c in self.changes]
        deltas = (len(c.text) - (c.end - c.start) for c in self.changes)
        self._shift = [0, *accumulate(deltas)]
        self._numbers = {id(c): number for number, c in enumerate(self.changes)}

    def start(self, offset: int) -> int:
        """Return where a node that started at the old offset starts now."""
        return offset + self._shift[bisect.bisect_right(self._ends, offset)]

    def end(self, offset: int) -> int:
        """Return where a node that ended at the old offset ends now.

        What is inserted right at its end stands behind it.
        """
        at = bisect.bisect_right(self._ends, offset)
        while at and self.changes[at - 1].start == offset == self.changes[at - 1].end:
            at -= 1
        return offset + self._shift[at]

    def new_start(self, change: Change) -> int:
        """Return where the text of one of `changes` starts in the new text."""
        return change.start + self._shift[self._numbers[id(change)]]

    def within(self, start: int, end: int) -> bool:
        """Whether any change touches the old extent."""
        at = bisect.bisect_left(self._ends, start)
        while at < len(self.changes):
            change = self.changes[at]
            if change.start > end:
                return False
            if change.end > start or change.start == change.end:
                return True
            at += 1
        return False
