"""What makes porter look at a file, a line, an expression: plain words, no rule logic.

A rule that speaks about something new adds its word here. This module imports nothing, so that
the hook can dismiss a file without paying for libcst.
"""

from __future__ import annotations

WORDS = (b"cuda", b"CUDA", b"nccl", b"NCCL")
"""A file, or a line, without any of these holds no site."""

ATTRIBUTES = frozenset({"cuda", "is_cuda", "NCCL", "CUDA"})
"""An expression with one of these behind a dot may hold a site."""

KEYWORDS = frozenset({"use_cuda", "no_cuda"})
"""An expression with a call that has one of these keywords may hold a site."""

STRINGS = ("cuda", "nccl")
"""A string that holds one of these, in any case and without blanks, may be a site."""

PHRASES = ("cuda out of memory",)
"""A string that holds one of these, in any case, may be a site."""

NAMESPACES = ("torch.cuda",)
"""A name that an import binds to something in one of these may be a site wherever it stands."""


MODULES = frozenset(
    {"torch.cuda", *(f"torch.cuda.{m}" for m in ("amp", "memory", "nvtx", "random"))}
)
"""Modules that are used through an alias; other names are spoken of where they are imported."""


def in_string(value: str) -> bool:
    """Whether a string constant may be a site."""
    if len(value) > 200:
        return False
    lowered = value.lower()
    if any(phrase in lowered for phrase in PHRASES):
        return True
    return any(word in lowered for word in STRINGS) and not any(c.isspace() for c in value)


def is_traced(qualified: str) -> bool:
    """Whether a dotted name lies in one of the namespaces that rules speak about."""
    return any(qualified == n or qualified.startswith(n + ".") for n in NAMESPACES)
