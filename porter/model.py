"""What the engine says about a file: findings, and the file's new bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from porter.engine.splice import Change


class Level(str, Enum):
    """How a finding ended, from the best to the worst for the user."""

    REWRITTEN = "rewritten"
    """The site was ported; a message, if there is one, tells what to know of the port."""
    NOTE = "note"
    """Recognised and rightly left alone: nothing to do."""
    MANUAL = "manual"
    """Recognised and left: a person has to decide; the message says what."""
    ERROR = "error"
    """The file could not be processed; it is as it was."""


UNREADABLE = "PTR000"
"""The code of a file that can't be processed."""

UNSPOKEN = "PTR001"
"""The code of a site that was located, but that no rule had an answer for."""

IDLE_PRAGMA = "PTR002"
"""The code of a pragma that keeps nothing, or can't be read."""

NO_RULES = frozenset({UNREADABLE, UNSPOKEN, IDLE_PRAGMA})
"""The codes of what the engine itself says."""


@dataclass(frozen=True)
class Cell:
    """Where in a notebook a finding stands, as its reader sees it.

    `number` counts all cells from 1; lines and columns count inside the cell, as in `Finding`.
    """

    number: int
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True)
class Finding:
    """One site in one file.

    Lines and columns count from 1, columns in characters, as editors do; `end_column` is the
    first column behind the site. Line and column point at what names the site: at `.cuda` behind
    a chain that may have begun some lines earlier. `first_line` is the first line that the site
    changes or, where it is left, `line`. `source` is the line, without its line end;
    empty where the line is longer than 2,000 bytes.

    In a notebook these are places in the file's JSON text, which is what git and editors mean by
    a line; `cell` has the place in its cell, and `source` is the line of the cell.
    """

    code: str
    level: Level
    message: str
    line: int
    column: int
    end_line: int
    end_column: int
    source: str = ""
    replacement: str | None = None
    first_line: int = 0
    cell: Cell | None = None

    @property
    def place(self) -> str:
        """Line and column for people: "12:5", in a notebook "cell 3:2:5"."""
        if self.cell is None:
            return f"{self.line}:{self.column}"
        return f"cell {self.cell.number}:{self.cell.line}:{self.cell.column}"

    @property
    def span(self) -> tuple[int, int]:
        """The columns of `source`, from 0, between which the site lies, as far as it does."""
        at = self.cell or self
        end = at.end_column - 1 if at.end_line == at.line else len(self.source)
        return at.column - 1, end


Only = Callable[[Finding], bool]
"""Tells which findings are asked for."""


@dataclass(frozen=True)
class Suppressed:
    """What would have been a finding, were it not for a pragma, and the pragma's reason."""

    finding: Finding
    reason: str


@dataclass(frozen=True)
class Rewrite:
    """The outcome for the bytes of one file.

    `output` equals the input where nothing changed, and where an error finding says that the
    file could not be processed. `changes` lead from the one to the other; their offsets are into
    the text as `porter.engine.source.Source` holds it.
    """

    output: bytes
    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...] = ()
    changes: tuple[Change, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the file could not be processed."""
        return any(f.level is Level.ERROR for f in self.findings)


@dataclass(frozen=True)
class Shim:
    """How ported code imports the shim.

    The default reads `import porter_runtime as accel`; a copy vendored into a package reads
    `from axolotl import _accel as accel` (`Shim(package="axolotl", module="_accel")`).
    """

    module: str = "porter_runtime"
    package: str | None = None
    alias: str = "accel"

    def statement(self, alias: str) -> str:
        """Return the import statement that binds the shim to `alias`."""
        prefix = f"from {self.package} " if self.package else ""
        rename = "" if alias == self.module else f" as {alias}"
        return f"{prefix}import {self.module}{rename}"

    @property
    def qualified(self) -> str:
        """Return the dotted name under which the shim's own names are imported."""
        return f"{self.package}.{self.module}" if self.package else self.module


@dataclass(frozen=True)
class Options:
    """What a run of the engine may be told.

    `select` and `ignore` hold codes or prefixes of codes ("PTR101", "PTR2"); an empty `select`
    means all. `ignore` wins. `configs` lets files of configuration be rewritten, where that is
    safe.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    shim: Shim = Shim()
    configs: bool = False

    def wants(self, code: str) -> bool:
        """Whether the rule with this code takes part."""
        if any(code.startswith(prefix) for prefix in self.ignore):
            return False
        return not self.select or any(code.startswith(prefix) for prefix in self.select)
