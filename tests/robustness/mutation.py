"""Mutations of Python source: most leave a program, some leave hardly text."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from random import Random

Mutation = Callable[["Mutator", bytes], bytes]

_WORDS = (
    "torch torch.cuda cuda th accel porter_runtime nccl 'cuda' 'cuda:0' \"nccl\" f'cuda:{i}' x "
    "self device None True 0 -1 1_0 () [] {} lambda: yield await print * ** : := , ; . ( ) [ ] { } "
    "@ -> = == is not in if else for async with as import from def class return try: except "
    "finally: global nonlocal del assert raise pass match case type import_torch b'' r'' ... \\"
).split()

_BYTES = [
    b"\x00",
    b"\x0c",
    b"\x0b",
    b"\x1a",
    b"\xff",
    "\u00e9".encode(),
    "\u2028".encode(),
    "\ufeff".encode(),
    "\U0001f600".encode(),
    "\uff43uda".encode(),  # which Python reads as cuda
    *(b"\t", b"\r", b"\r\n", b"\\\n", b"\n", b" ", b"# cuda\n", b"'''", b'"""', b"{", b"}"),
]

_HEADS = [
    b"\xef\xbb\xbf",
    b"#!/usr/bin/env python\n",
    b"# -*- coding: latin-1 -*-\n# \xe9\n",
    b"# vim: set fileencoding=utf-16 :\n",
    b"# coding: no-such-codec\n",
    b"from __future__ import annotations\n",
    b'"""Doc: torch.cuda."""\n',
    b"import torch as th, os\n",
    b"from torch import *\n",
    b"import porter_runtime as accel\n",
    b"accel = 1\n",
    b"\x0c\n",
]

_FRAMES = [
    "def f(a, device='cuda'):\n{4}    return a\n",
    "class C(Base):\n    async def g(self):\n{8}",
    "if flag:\n{4}else:\n    pass\n",
    "try:\n{4}except Exception:  # torch.cuda\n    pass\n",
    "with open('cuda') as f, torch.cuda.stream(s):\n{4}",
    "for i in range(torch.cuda.device_count()):\n{4}",
    "match x:\n    case 'cuda':\n{8}",
]

_EXPRESSIONS = [
    b"(%s)",
    b"(\n    # cuda\n    %s  # end\n)",
    b"[%s for _ in y]",
    b"{%s: %s}",
    b"lambda torch: %s",
    b"f(%s, device=%s)",
    b"(%s).cuda()",
    b"not %s",
    b"(y := %s)",
    b"%s if torch.cuda.is_available() else %s",
    b"(await %s)",
    b"'\xc3\xa9\xf0\x9f\x98\x80', %s",
    b"f'{%s!r:>{w}}'",
    b"*%s,",
    b"%s[%s]",
]


class Mutator:
    """Mutates sources with the help of others; the same seed makes the same mutations."""

    def __init__(self, sources: Sequence[bytes], seed: int) -> None:
        self.random = Random(seed)
        self.sources = sources
        self.grafts = sorted({graft for source in sources for graft in _expressions(source)})

    def next(self) -> bytes:
        """Return a source with one to four mutations."""
        data = self.random.choice(self.sources)
        for _ in range(self.random.choice((1, 1, 2, 2, 3, 4))):
            data = self.mutate(data)
        return data

    def mutate(self, data: bytes) -> bytes:
        """Return the source with one mutation; it may be the source itself."""
        (mutation,) = self.random.choices(_MUTATIONS, _WEIGHTS)
        return mutation(self, data)

    def _graft(self, data: bytes) -> bytes:
        """Put an expression of another source in the place of one."""
        spans = _spans(data)
        if not spans:
            return data
        start, end = self.random.choice(spans)
        return data[:start] + self.random.choice(self.grafts) + data[end:]

    def _wrap_expression(self, data: bytes) -> bytes:
        spans = _spans(data)
        if not spans:
            return data
        start, end = self.random.choice(spans)
        frame = self.random.choice(_EXPRESSIONS)
        return data[:start] + frame.replace(b"%s", data[start:end]) + data[end:]

    def _frame(self, data: bytes) -> bytes:
        """Indent all of it below the head of a block."""
        frame = self.random.choice(_FRAMES).encode()
        step = self.random.choice((b"    ", b"\t", b" "))

        def indented(found: re.Match[bytes]) -> bytes:
            margin = step * (int(found[1]) // 4)
            lines = data.splitlines(keepends=True)
            return b"".join(margin + line if line.strip() else line for line in lines)

        return re.sub(rb"^    (?=    |\S)", step, re.sub(rb"\{(\d)\}", indented, frame), flags=re.M)

    def _head(self, data: bytes) -> bytes:
        return self.random.choice(_HEADS) + data

    def _join(self, data: bytes) -> bytes:
        other = self.random.choice(self.sources)
        return data + self.random.choice((b"", b"\n\n", b"; ", b"\\\n")) + other

    def _newlines(self, data: bytes) -> bytes:
        new = self.random.choice((b"\r\n", b"\r", b"\x0c\n", b"  # cuda\n", b" ; \n", b"\\\n\n"))
        if self.random.random() < 0.5:
            return data.replace(b"\n", new)
        return self._at_one(data, rb"\n", new)

    def _comment(self, data: bytes) -> bytes:
        return self._at_one(data, rb"(?<=[(\[{,])", b"  # cuda: why\n    ")

    def _word(self, data: bytes) -> bytes:
        return self._at_one(data, rb"[\w.]+|'[^'\n]*'|\"[^\"\n]*\"", self._any_word())

    def _insert_word(self, data: bytes) -> bytes:
        return self._at_one(data, rb"\b", b" " + self._any_word() + b" ")

    def _rename(self, data: bytes) -> bytes:
        names = sorted(set(re.findall(rb"\b[a-z_]\w*\b", data)))
        if not names:
            return data
        old = self.random.choice(names)
        return re.sub(rb"\b%s\b" % re.escape(old), self._any_word().replace(b"\\", b""), data)

    def _lines(self, data: bytes) -> bytes:
        lines = data.splitlines(keepends=True)
        if len(lines) < 2:
            return data
        a, b = self.random.sample(range(len(lines)), 2)
        match self.random.randrange(4):
            case 0:
                lines[a], lines[b] = lines[b], lines[a]
            case 1:
                del lines[a]
            case 2:
                lines.insert(a, lines[b])
            case _:
                lines[a] = self.random.choice((b" ", b"\t", b"    ")) + lines[a]
        return b"".join(lines)

    def _bytes(self, data: bytes) -> bytes:
        at = self.random.randrange(len(data) + 1)
        return data[:at] + self.random.choice(_BYTES) + data[at + self.random.randrange(2) :]

    def _cut(self, data: bytes) -> bytes:
        a, b = sorted(self.random.randrange(len(data) + 1) for _ in range(2))
        return data[:a] + data[b:] if self.random.random() < 0.5 else data[:b]

    def _deepen(self, data: bytes) -> bytes:
        depth = self.random.choice((5, 20, 90, 250))
        spans = _spans(data)
        if not spans:
            return data
        start, end = self.random.choice(spans)
        return data[:start] + b"(" * depth + data[start:end] + b")" * depth + data[end:]

    def _any_word(self) -> bytes:
        return self.random.choice(_WORDS).encode()

    def _at_one(self, data: bytes, pattern: bytes, new: bytes) -> bytes:
        """Replace one of the matches of a pattern."""
        found = list(re.finditer(pattern, data))
        if not found:
            return data
        match = self.random.choice(found)
        return data[: match.start()] + new + data[match.end() :]


_CHOICES: list[tuple[Mutation, int]] = [
    (Mutator._graft, 8),
    (Mutator._wrap_expression, 6),
    (Mutator._frame, 3),
    (Mutator._head, 2),
    (Mutator._join, 3),
    (Mutator._newlines, 2),
    (Mutator._comment, 2),
    (Mutator._word, 3),
    (Mutator._insert_word, 1),
    (Mutator._rename, 2),
    (Mutator._lines, 2),
    (Mutator._bytes, 2),
    (Mutator._cut, 1),
    (Mutator._deepen, 1),
]
_MUTATIONS = [mutation for mutation, _ in _CHOICES]
_WEIGHTS = [weight for _, weight in _CHOICES]


def _spans(data: bytes) -> list[tuple[int, int]]:
    """Return where the expressions of a source stand; none where it can't be parsed."""
    try:
        tree = ast.parse(data.decode("utf-8").removeprefix("\ufeff"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    shift = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    starts = [shift]
    for line in data[shift:].splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return [
        (
            starts[node.lineno - 1] + node.col_offset,
            starts[node.end_lineno - 1] + node.end_col_offset,
        )
        for node in ast.walk(tree)
        if isinstance(node, ast.expr)
        and node.end_lineno is not None
        and node.end_col_offset is not None
    ]


def _expressions(source: bytes) -> list[bytes]:
    found = [source[start:end] for start, end in _spans(source)]
    return [each for each in found if b"\n" not in each and len(each) < 120]
