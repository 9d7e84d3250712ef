from __future__ import annotations

import re
from pathlib import Path

from porter.model import Level
from porter.pages.markdown import as_markdown
from porter.pages.portability import portability
from porter.report import FileReport, Report
from tests.pages import sample


def _markdown(report: Report) -> str:
    return as_markdown(portability(report, [Path()]))


def test_figures_and_what_is_left() -> None:
    text = _markdown(sample.small())
    assert "**60 %** of 5 sites" in text
    assert "| `src/train.py` | 1 | 1 | 1 | 1 |  |" in text
    assert "| **Tensors and modules** | 3 |  |  |  |  |" in text
    blocked = text[text.index("## Blocked") : text.index("## Needs a person")]
    assert "- 4:1 PTR701: only CUDA has `flash_attn`\n\n  `import flash_attn`" in blocked
    assert "PTR202" not in blocked
    assert "- `link.py`: a link to nothing" in text


def test_what_is_ported_is_counted_alone() -> None:
    assert "y.cuda()" not in _markdown(sample.small())


def test_a_site_that_rounds_to_all_is_not_all() -> None:
    ported = [sample.finding(line, "x") for line in range(1, 1000)]
    left = sample.finding(1000, "x", level=Level.MANUAL)
    report = Report(1, [FileReport("a.py", (*ported, left))])
    assert "**99 %** of 1000 sites" in _markdown(report)


def test_nothing_found() -> None:
    assert "Nothing here is hard-coded for CUDA." in _markdown(Report(3))


def test_hostile_text_stays_text() -> None:
    text = _markdown(sample.hostile())
    assert text.isprintable() or set(re.findall(r"[^\n\x20-\x7e…]", text)) == set()
    without_code = re.sub(r"(`+).*?\1", "", text)
    assert not re.search(r"(?<!\\)[<>]", without_code)
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert len(rows) == len(sample.HOSTILE_NAMES)
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 7 for row in rows)


def test_code_in_messages_stays_code() -> None:
    message = "use `__a__` for a_b_ *c*"
    left = sample.finding(1, "x", level=Level.MANUAL, message=message)
    report = Report(1, [FileReport("a.py", (left,))])
    assert r"use `__a__` for a_b\_ \*c\*" in _markdown(report)
