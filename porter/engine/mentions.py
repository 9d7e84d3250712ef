"""Which mentions of CUDA can be sites: in most files the word stands in prose alone.

Imports nothing, not even `re`: the hook's first look goes through here.
"""

from __future__ import annotations

from porter.engine import triggers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_GLUE = b"\"'}."
"""What stands before a word that is a string's or an attribute's, without a blank between."""

_LONGEST_LINE = 10_000
"""Bytes of a line beyond which it isn't looked at closely, which takes time by its square."""

_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")

_IMPORTED = frozenset({b"cuda", b"CUDAExtension", b"is_torch_cuda_available"})
"""Names that can be sites on a line of their own in an import's parentheses; see also `_cuda`."""

_CODE = (b".cuda(", b"torch.cuda")
"""What makes a text of any length a site, since it may be a program; see `triggers.CODE`."""

_PHRASES = (b"cuda error", b"out of memory")
"""What makes a text of several words a site; see `triggers.PHRASES`."""


def mentions(data: bytes) -> Iterator[int]:
    """Yield where one of the words for CUDA stands so that it can be a site, once a line and word.

    Left out are comments and what no rule can speak of: a word of a text with blanks around it,
    a part of a name that is neither an attribute, nor imported, nor given a value.
    """
    for word in triggers.FILE_WORDS:
        at = data.find(word)
        while at >= 0:
            end = data.find(b"\n", at)
            end = len(data) if end < 0 else end
            if end - at > _LONGEST_LINE or _may_be_site(data, at, at + len(word), end):
                yield at
                at = data.find(b"\r", at, end) if b"\r" in data[at:end] else end
            at = data.find(word, at + 1)


def _may_be_site(data: bytes, start: int, stop: int, end: int) -> bool:
    """Whether the word from `start` to `stop`, on a line that goes on to `end`, can be a site."""
    first = data.rfind(b"\n", 0, start) + 1
    line = data[first:end]
    if b"\r" in line[:-1]:
        return True  # several lines, to Python
    if line.lstrip()[:1] == b"#" and b'"""' not in line and b"'''" not in line:
        return False
    while start > first and data[start - 1] in _WORD:
        start -= 1
    while stop < end and data[stop] in _WORD:
        stop += 1
    before, word, after = data[first:start], data[start:stop], data[stop:end].strip()
    run = before.split()[-1] if before[-1:].strip() else b""
    if any(mark in _GLUE for mark in run) or before.rstrip()[-1:] == b".":
        return True
    if not before.strip():
        above = data[max(0, first - 80) : first].rstrip(b"\r\n")
        if above.endswith(b"\\"):
            return True  # a name, or a text, goes on from there
        if word.islower() and above.rstrip().endswith(b".") and not above.rstrip().endswith(b"..."):
            return True
    if after[:1] == b"=" or (after[:1] == b"." and after[1:2].isalpha()) or word == b"nvidia":
        return True
    if b"import" in before or any(code in line for code in _CODE):
        return True
    if any(phrase in line.lower() for phrase in _PHRASES):
        return True
    return (
        (word in _IMPORTED or word.startswith(b"_cuda"))
        and before.rstrip()[-1:] in (b"", b",", b"(")
        and (after[:1] in (b"", b",", b")", b"#", b"\\") or after.startswith(b"as "))
    )
