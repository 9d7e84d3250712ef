"""Sources that no person writes: each is ported or left, and none takes porter down."""

from __future__ import annotations

import pytest

from porter.engine import rewrite_source
from porter.model import Level
from tests.robustness.oracle import faults

PORTED = {
    "150 parentheses": b"x = " + b"(" * 150 + b"y.cuda()" + b")" * 150 + b"\n",
    "90 lists": b"x = " + b"[" * 90 + b"y.cuda()" + b"]" * 90 + b"\n",
    "90 calls": b"x = " + b"f(" * 90 + b"y.cuda()" + b")" * 90 + b"\n",
    "95 blocks": b"".join(b" " * n + b"if torch.cuda.is_available():\n" for n in range(95))
    + b" " * 95
    + b"x.cuda()\n",
    "95 functions": b"".join(b" " * n + b"def f():\n" for n in range(95))
    + b" " * 95
    + b"x.cuda()\n",
    "a string of 1 MB": b"x = 'cuda" + b"a" * 1_000_000 + b"'; y.cuda()\n",
    "a comment of 1 MB": b"y.cuda()  # " + b"cuda " * 200_000 + b"\n",
    "1000 continued lines": b"x = \\\n" * 1000 + b"y.cuda()\n",
    "1000 fields": b"x = f'" + b"{y.cuda()}" * 1000 + b"'\n",
    "1000 sites on a line": b"x = [" + b"y.cuda(), " * 1000 + b"]\n",
    "1000 imported names": b"from torch.cuda import (" + b"synchronize, " * 1000 + b")\n",
    "500 decorators": b"@torch.cuda.amp.autocast()\n" * 500 + b"def f(): pass\n",
    "500 contexts": b"with " + b", ".join([b"torch.cuda.amp.autocast()"] * 500) + b": pass\n",
}
LEFT = {
    "a chain of 3000 calls": b"x = y" + b".cuda()" * 3000 + b"\n",
    "a chain of 3000 names": b"x = torch.cuda" + b".a" * 3000 + b"\n",
    "3000 times not": b"x = " + b"not " * 3000 + b"torch.cuda.is_available()\n",
    "1500 choices": b"x = " + b"y.cuda() if a else " * 1500 + b"z\n",
    "3000 comparisons": b"x = " + b" == ".join([b"'cuda'"] * 3000) + b"\n",
}
UNREADABLE = {
    "5000 parentheses": b"x = " + b"(" * 5000 + b"y.cuda()" + b")" * 5000 + b"\n",
    "a NUL byte": b"x.cuda()\n\0\n",
    "a NUL byte in a string": b"x = 'cuda\0'\n",
    "a coding cookie of UTF-16": b"# coding: utf-16\nx.cuda()\n",
    "a codec that is none": b"# coding: cuda\nx.cuda()\n",
    "a codec of bytes": b"# coding: base64\nx.cuda()\n",
    "a lone surrogate": b"x = '\xed\xa0\x80'; y.cuda()\n",
    "an unfinished string": b"x.cuda('''\n",
    "101 blocks": b"".join(b" " * n + b"if x:\n" for n in range(101)) + b" " * 101 + b"x.cuda()\n",
}


def cases(table: dict[str, bytes]) -> list[object]:
    return [pytest.param(data, id=name) for name, data in table.items()]


@pytest.mark.parametrize("data", cases(PORTED))
def test_is_ported(data: bytes) -> None:
    assert list(faults(data)) == []
    assert rewrite_source(data).output != data


@pytest.mark.parametrize("data", cases(LEFT))
def test_is_left_and_reported(data: bytes) -> None:
    assert list(faults(data)) == []
    result = rewrite_source(data)
    assert result.output == data
    assert {finding.level for finding in result.findings} <= {Level.MANUAL, Level.NOTE}
    assert result.findings


@pytest.mark.parametrize("data", cases(UNREADABLE))
def test_cannot_be_read_and_is_told(data: bytes) -> None:
    result = rewrite_source(data)
    assert result.output is data
    (finding,) = result.findings
    assert finding.level is Level.ERROR
    assert "fault is porter's" not in finding.message
