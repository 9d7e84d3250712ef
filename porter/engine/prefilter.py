"""The first look at a file: most hold no word of CUDA, and stop here unparsed."""

from __future__ import annotations

from porter.engine import triggers
from porter.engine.mentions import mentions


def may_have_sites(data: bytes, in_bulk: bool = False) -> bool:
    """Whether the file's bytes hold any word that a site needs.

    Args:
        data: the file's bytes.
        in_bulk: whether so many files are asked about that expressions are worth compiling; the
            answer is the same.

    UTF-16 and UTF-32 would hide the words, but Python source can't be in either.
    """
    if any(word in data for word in triggers.FILE_WORDS) and (
        next(mentions(data), None) is not None or any(word in data for word in triggers.WEAK_WORDS)
    ):
        return True
    if triggers.imports_from_torch(data):
        return True
    is_ported = any(mark in data for mark in triggers.SHIM_IMPORTS)
    if is_ported and any(word in data for word in triggers.LINE_WORDS):
        return True
    for words, pattern in triggers.HINTS:
        if (in_bulk and len(words) > 1) or any(word in data for word in words):
            import re  # not before: to import it takes half as long as Python takes to start

            if re.search(pattern, data) is not None:
                return True
    return next(triggers.package_imports(data), None) is not None
