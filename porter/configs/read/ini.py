"""INI files, as configparser and setuptools read them: sections, keys, values on many lines."""

from __future__ import annotations

import re

from porter.configs.read.leaf import Leaf

_SECTION = re.compile(r"\[([^\]\n]+)\]")
_ENTRY = re.compile(r"([^\s#;=:\[][^=:\n]*)[=:]\s*(.*)")
_REMARK = re.compile(r"(?:^|\s)[#;].*$")


def leaves(text: str) -> list[Leaf]:
    """Return the values of an INI text, in their order: one for each line of a value."""
    found: list[Leaf] = []
    section, key, start, holder = "", "", 0, 0
    for line in text.splitlines(keepends=True):
        at, start = start, start + len(line)
        bare = _REMARK.sub("", line.rstrip("\r\n"))
        if not bare.strip():
            continue
        header, entry = _SECTION.match(bare), _ENTRY.match(bare)
        if bare[0].isspace() and key:
            value = bare.strip()
            begin = at + bare.index(value)
            found.append(Leaf((section, key), value, begin, begin + len(value), None, holder))
        elif header:
            section, key, holder = header[1].strip(), "", holder + 1
        elif entry:
            key, value = entry[1].strip(), entry[2].strip()
            if value:
                begin = at + entry.start(2)
                end = begin + len(value)
                found.append(Leaf((section, key), value, begin, end, at, holder))
    return found
