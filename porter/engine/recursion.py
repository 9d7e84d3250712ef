"""More room for the recursion of parsers, for as long as it is needed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def recursion_limit(limit: int) -> Iterator[None]:
    """Raise the interpreter's recursion limit to at least `limit` inside the block."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, before))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
