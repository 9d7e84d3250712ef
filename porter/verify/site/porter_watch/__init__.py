"""Watches the training of the process that it is in, for `porter verify`.

It depends on torch alone, speaks Python 3.8, and imports torch in no process that doesn't. What it
sees goes to a file of each process as lines of JSON. Nothing that fails in here reaches the
program: it is written down as a fault.
"""

from __future__ import annotations

import os

VARIABLE = "PORTER_VERIFY"


def start() -> None:
    """Prepare for torch's import, where `porter verify` has started this process or an ancestor."""
    text = os.environ.get(VARIABLE)
    if text:
        from . import imports, settings

        imports.watch(settings.parse(text))
