"""Cases: whole files before and after the port, and the lines about which something was said."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from porter.engine import rewrite_source
from porter.model import Finding, Level

_BLOCK = re.compile(r"^```(before|after)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SAID = re.compile(r"^(rewritten|manual|note): ([\d, ]+)$", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """`after` equals `before` where the file stays as it is; `said` has the lines by level."""

    name: str
    before: str
    after: str
    said: dict[Level, list[int]]

    def check(self) -> None:
        result = rewrite_source(self.before.encode())
        assert not result.failed, result.findings
        after = result.output.decode()
        assert after == self.after
        assert lines(result.findings) == self.said
        assert all(f.message for f in result.findings if f.level is not Level.REWRITTEN)
        ast.parse(after)
        assert rewrite_source(result.output).output == result.output, "a second run changes it"


def cases(file: Path) -> Iterator[Case]:
    """Read the cases of a Markdown file: a heading, blocks before and after, lines by level."""
    for section in re.split(r"^## ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        text: dict[str, str] = dict(_BLOCK.findall(section))
        said = {
            Level(level): [int(n) for n in ns.split(",")] for level, ns in _SAID.findall(section)
        }
        after = text.get("after", text["before"])
        yield Case(section.partition("\n")[0], text["before"], after, said)


def lines(findings: Iterable[Finding]) -> dict[Level, list[int]]:
    """Return the lines with findings, by level."""
    found: dict[Level, set[int]] = {}
    for finding in findings:
        found.setdefault(finding.level, set()).add(finding.line)
    return {level: sorted(numbers) for level, numbers in found.items()}


def port(text: str) -> str:
    """Port a module that is written as an indented block."""
    result = rewrite_source(textwrap.dedent(text).lstrip("\n").encode())
    assert not result.failed, result.findings
    return result.output.decode()


def run(text: str, **names: Any) -> dict[str, Any]:
    """Port a module, execute it with the real shim, and return its names."""
    scope: dict[str, Any] = {"__name__": "ported", **names}
    exec(compile(port(text), "ported.py", "exec", dont_inherit=True), scope)
    return scope
