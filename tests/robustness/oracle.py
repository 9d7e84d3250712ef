"""What has to hold for any bytes that porter's engine is given."""

from __future__ import annotations

import contextlib
import re
import tokenize
import traceback
import warnings
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from porter.engine import rewrite_source
from porter.model import Level, Rewrite
from tests.corpus.invariants import violations


def faults(data: bytes) -> Iterator[str]:
    """Yield what the engine does wrong with some bytes; nothing where all is well.

    It never raises. What can't be parsed comes back as it was. A port parses, and compiles if the
    source did; it keeps every comment, explains each changed line and is left alone by a second
    run; and no guard had to stop it.
    """
    try:
        result = rewrite_source(data)
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        yield f"raises {error!r} in {Path(frame.filename).name}:{frame.lineno}"
        return
    if result.output != data and not compiles(data, only_parse=True):
        yield "changes what can't be parsed"
        return
    # A BOM makes the first line another one where the import now stands before it.
    bare = replace(result, output=result.output.removeprefix(BOM_UTF8))
    # `tokenize`, which counts the comments, takes less than Python's parser (form feeds, for one),
    # and to it a comment goes on behind a lone CR, where Python begins a line.
    with contextlib.suppress(SyntaxError, tokenize.TokenError):
        for violation in violations(data.removeprefix(BOM_UTF8), bare):
            if violation == "comments differ" and re.search(rb"\r(?!\n)", data):
                continue
            if "changed without a finding" in violation and _is_explained(data, result):
                continue
            yield violation
    if result.output != data and compiles(data) and not compiles(result.output):
        yield "the source compiles, and the port doesn't"


def _is_explained(data: bytes, result: Rewrite) -> bool:
    """Whether each change of a statement lies on the lines of a finding that says so.

    Asked of the changes themselves: where lines are repeated, a comparison of the texts takes one
    for another.
    """
    body = data.removeprefix(BOM_UTF8)
    lines = {
        line
        for finding in result.findings
        if finding.level is Level.REWRITTEN
        for line in range(finding.first_line, finding.end_line + 1)
    }
    return all(
        _line(body, at) in lines
        for change in result.changes
        if change.kind != "insertion"
        for at in (change.core if change.kind == "expression" else (change.start, change.end))
    )


def _line(data: bytes, offset: int) -> int:
    return max(1, len((data[:offset] + b".").splitlines()))


def compiles(data: bytes, *, only_parse: bool = False) -> bool:
    """Whether this Python takes the bytes for a module."""
    flags = {"flags": 0x400} if only_parse else {}  # PyCF_ONLY_AST
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(data, "module", "exec", dont_inherit=True, **flags)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
            return False
    return True
