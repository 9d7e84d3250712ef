"""A progress bar for work that takes long, where somebody watches."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")

_PATIENCE = 1.0
"""Seconds of work that nobody needs to be told about."""


def watched(items: Iterable[Item], length: int, label: str = "porting") -> Iterator[Item]:
    """Yield the items; on a terminal, show on stderr how many have gone by after a while."""
    if not sys.stderr.isatty():
        yield from items
        return
    import click

    start = time.monotonic()
    with contextlib.ExitStack() as stack:
        bar = None
        for count, item in enumerate(items, 1):
            if bar is None and time.monotonic() - start > _PATIENCE:
                bar = stack.enter_context(
                    click.progressbar(length=length, label=label, file=sys.stderr)
                )
                bar.update(count - 1)
            if bar is not None:
                bar.update(1)
            yield item
