"""Device strings in expressions of more than 1,500 bytes, which the engine cuts into parts.

The parts don't see the call, list or dict around them: rules go by the part's role, and never fail.
"""

from __future__ import annotations

import pytest

from porter.engine import rewrite_source
from porter.model import Level

FILLER = ", ".join(f'"a text without meaning {n}"' for n in range(80))

PORTED = [
    ('devices = [{}, "cuda"]', '"cuda"', "accel.device_type"),
    ('x = [{}, "cuda:1"]', '"cuda:1"', "str(accel.torch_device(1))"),
    ('t = {{"a": [{}], "device": "cuda"}}', '"cuda"', "accel.device_type"),
    ('run({}, device="cuda:1")', '"cuda:1"', "str(accel.torch_device(1))"),
    ('run({}, "cuda" if f else "cpu")', '"cuda" if', "accel.device_type if"),
    (
        'run({}, "cuda" if torch.cuda.is_available() else "cpu")',
        '"cuda" if torch.cuda.is_available() else "cpu"',
        "accel.device_type",
    ),
    (
        's = n + len([{}]) + ("cuda" if torch.cuda.is_available() else "cpu")',
        '"cuda" if torch.cuda.is_available() else "cpu"',
        "accel.device_type",
    ),
    ("x = lambda: [{}, x.cuda()]", "x.cuda()", "x.to(accel.device_type)"),
    ('d = {{**{{"x": [{}]}}, "d": torch.device("cuda")}}', '"cuda"', "accel.device_type"),
]


@pytest.mark.parametrize(("text", "old", "new"), PORTED)
def test_a_part_is_ported_by_its_role(text: str, old: str, new: str) -> None:
    before = f"import torch\n{text.format(FILLER)}\n"
    result = rewrite_source(before.encode())
    after = before.replace(old, new).replace("torch\n", "torch\nimport porter_runtime as accel\n")
    assert result.output.decode() == after


LEFT = [
    ('x = [{}, "cuda"]', [("PTR309", Level.MANUAL)]),
    ('s = {{"cuda", {}}}', [("PTR309", Level.MANUAL)]),
    ('p.add_argument("--device", default="cuda", help=[{}])', [("PTR309", Level.MANUAL)]),
    ('pytest.mark.parametrize("device", ["cuda", {}])', [("PTR309", Level.MANUAL)]),
    ('v = d.get([{}], "cuda")', [("PTR309", Level.MANUAL)]),
    ('t = {{"a": [{}], "cuda": 1, "cpu": 2}}', [("PTR308", Level.NOTE)]),
    ('print([{}], "cuda", f"cuda:{{i}}")', []),
]


@pytest.mark.parametrize(("text", "findings"), LEFT)
def test_what_is_not_known_is_reported(text: str, findings: list[tuple[str, Level]]) -> None:
    before = f"{text.format(FILLER)}\n".encode()
    result = rewrite_source(before)
    assert result.output == before
    assert [(f.code, f.level) for f in result.findings] == findings
