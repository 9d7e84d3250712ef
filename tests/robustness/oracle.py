"""What has to hold for any bytes that porter's engine is given."""

from __future__ import annotations

import contextlib
import tokenize
import traceback
import warnings
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from porter.engine import rewrite_source
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
    # `tokenize`, which counts the comments, takes less than Python's parser: form feeds, for one.
    with contextlib.suppress(SyntaxError, tokenize.TokenError):
        yield from violations(data.removeprefix(BOM_UTF8), bare)
    if result.output != data and compiles(data) and not compiles(result.output):
        yield "the source compiles, and the port doesn't"


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
