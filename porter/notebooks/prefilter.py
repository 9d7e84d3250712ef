"""The first look at a notebook: most hold no word of CUDA, and stop here unparsed."""

from __future__ import annotations

from porter.configs import prefilter as configs
from porter.engine import prefilter as python
from porter.engine.triggers import FILE_WORDS
from porter.kinds import SHELL

_MAGICS = (b"\n!", b"\n%", b" !", b" %", b"=!", b"=%")
"""How the lines begin, and the values, that are for a shell."""


def may_have_sites(data: bytes) -> bool:
    """Whether the notebook's bytes hold any word that a site needs, in an output for all we know.

    Words that a rule seeks at the beginning or the end of a line stand in strings of JSON here.
    """
    if any(word in data for word in FILE_WORDS):
        return True
    text = data.replace(b'\\"', b"'").replace(b"\\n", b"\n").replace(b"\\t", b"\t")
    text = text.replace(b'"', b"\n")
    if python.may_have_sites(text):
        return True
    # Without a magic, the word "GPU" stands in the metadata, where Colab puts it.
    return any(mark in text for mark in _MAGICS) and configs.may_have_sites(text, SHELL)
