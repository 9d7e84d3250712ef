"""Code generation that notes where in the text a node lies, also inside f-strings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field

import libcst as cst
from libcst._nodes.internal import CodegenState  # libcst shows positions only for whole modules

_NOTHING = nullcontext()
_NEWLINE = re.compile(r"\r\n|\r|\n")


@dataclass
class Places(CodegenState):
    """Generates code and notes where the wanted nodes' text lies.

    `spans` include a node's own parentheses, `cores` don't.
    """

    wanted: frozenset[int] = frozenset()
    length: int = 0
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)
    cores: dict[int, tuple[int, int]] = field(default_factory=dict)
    _open: list[tuple[int, int]] = field(default_factory=list)

    def add_token(self, value: str) -> None:
        """Keep a piece of text."""
        self.tokens.append(value)
        self.length += len(value)

    def before_codegen(self, node: cst.CSTNode) -> None:
        """Note where a wanted node starts, its parentheses included."""
        if id(node) in self.wanted:
            self._open.append((id(node), self.length))

    def after_codegen(self, node: cst.CSTNode) -> None:
        """Note where it ends."""
        if id(node) in self.wanted:
            key, start = self._open.pop()
            self.spans[key] = (start, self.length)

    def record_syntactic_position(  # type: ignore[override]  # any context manager serves
        self,
        node: cst.CSTNode,
        *,
        start_node: cst.CSTNode | None = None,
        end_node: cst.CSTNode | None = None,
    ) -> AbstractContextManager[None]:
        """Note where a wanted node lies without its own parentheses."""
        return self._core(id(node)) if id(node) in self.wanted else _NOTHING

    @contextmanager
    def _core(self, key: int) -> Iterator[None]:
        start = self.length
        yield
        self.cores[key] = (start, self.length)


def generate(tree: cst.CSTNode, wanted: frozenset[int], text: str) -> tuple[str, Places]:
    """Generate the tree's code with the newline that libcst took for the fragment's default."""
    first = _NEWLINE.search(text)
    newline = first.group() if first else "\n"
    state = Places(default_indent="    ", default_newline=newline, wanted=wanted)
    tree._codegen(state)
    return "".join(state.tokens), state
