"""Sites that are kept stay as they are, whatever else is ported around them."""

from __future__ import annotations

import ast
import io
import tokenize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porter.engine import rewrite_source
from porter.model import Finding, Level
from tests.engine.test_properties import FUZZ, modules, parses

pytestmark = pytest.mark.filterwarnings("ignore::SyntaxWarning")


def placed(finding: Finding) -> tuple[int, int, str]:
    return finding.line, finding.column, finding.code


@FUZZ
@given(modules().filter(parses), st.data())
def test_only_what_was_asked_for_is_ported(text: str, data: st.DataObject) -> None:
    before = text.encode()
    ready = [f for f in rewrite_source(before).findings if f.level is Level.REWRITTEN]
    wanted = {placed(f) for f in ready if data.draw(st.booleans())}
    result = rewrite_source(before, only=lambda f: placed(f) in wanted)
    assert {placed(f) for f in result.findings} <= wanted
    ported = [f for f in result.findings if f.level is Level.REWRITTEN]
    assert bool(ported) == (result.output != before)
    ast.parse(result.output)
    old, new = before.splitlines(), result.output.splitlines()
    touched = {n for f in ported for n in range(f.first_line, f.end_line + 1)}
    for number, line in enumerate(old, 1):
        if number not in touched and b"import" not in line:
            assert line in new
    if len(wanted) == len(ready):
        assert result.output == rewrite_source(before).output


@FUZZ
@given(modules().filter(parses))
def test_pragmas_on_every_line_that_is_reported_silence_it(text: str) -> None:
    before = text.encode()
    lines = text.splitlines(keepends=True)
    free = _lines_with_room(text)
    for number in {f.line for f in rewrite_source(before).findings} & free:
        ending = lines[number - 1][len(lines[number - 1].rstrip("\r\n")) :]
        comment = "  # porter: ignore[PTR] kept"
        lines[number - 1] = lines[number - 1].rstrip("\r\n") + comment + ending
    after = "".join(lines).encode()
    result = rewrite_source(after)
    assert not {f.line for f in result.findings if f.code != "PTR002"} & free
    kept = [s.finding.line for s in result.suppressed]
    new = result.output.splitlines()
    assert all(after.splitlines()[line - 1] in new for line in kept)


def _lines_with_room(text: str) -> set[int]:
    """Return the lines behind whose end a comment can stand, and none does."""
    tokens = list(tokenize.generate_tokens(io.StringIO(text.replace("\r\n", "\n")).readline))
    ends = {t.start[0] for t in tokens if t.type in (tokenize.NEWLINE, tokenize.NL)}
    commented = {t.start[0] for t in tokens if t.type == tokenize.COMMENT}
    return ends - commented
