"""What a port leaves to a person is still reported when the ported text is looked at again.

The words that made porter look at a file may all be gone with the port: each rule's examples are
put into a file that has something to port, and the port is ported once more.
"""

from __future__ import annotations

import re
from collections import Counter

import pytest

from porter.engine import rewrite_source
from porter.model import Level, Options, Rewrite, Shim
from porter.rule import all_rules

PORTED = "\nif torch.cuda.is_available():\n    x = x.cuda()\n"
COMMENT = re.compile("  # .*")  # some examples say "CUDA" in a comment, for being looked at

EXAMPLES = [
    pytest.param(COMMENT.sub("", text), id=f"{rule.code}-{kind}-{n}")
    for rule in all_rules()
    for kind, texts in {
        "rewrites": [before for before, _ in rule.rewrites],
        "manual": rule.manual,
        "notes": rule.notes,
        "valid": rule.valid,
    }.items()
    for n, text in enumerate(texts)
    if not text.startswith(("from __future__", '"""')) and "accel" not in text
]
SHIMS = [Shim(), Shim(module="_accel", package="pkg")]


def left(result: Rewrite) -> Counter[tuple[str, str]]:
    assert not result.failed, result.findings
    return Counter((f.code, f.message) for f in result.findings if f.level is Level.MANUAL)


@pytest.mark.parametrize("shim", SHIMS, ids=["installed", "vendored"])
@pytest.mark.parametrize("text", EXAMPLES)
def test_what_was_left_is_found_again(text: str, shim: Shim) -> None:
    options = Options(shim=shim)
    first = rewrite_source(f"import torch\n{text}{PORTED}".encode(), options=options)
    assert f"import {shim.module} as accel".encode() in first.output
    again = rewrite_source(first.output, options=options)
    assert again.output == first.output
    assert left(again) == left(first)


@pytest.mark.parametrize("shim", SHIMS, ids=["installed", "vendored"])
@pytest.mark.parametrize("header", ["import torch", "from torch.cuda import set_device"])
def test_the_shims_own_functions_take_integers(header: str, shim: Shim) -> None:
    call = "set_device" if "from" in header else "torch.cuda.set_device"
    options = Options(shim=shim)
    first = rewrite_source(f"{header}\n{call}(device=0)\n".encode(), options=options)
    assert b"cuda" not in first.output
    assert not rewrite_source(first.output, options=options).findings


@pytest.mark.parametrize("alias", ["accel", "porter_accel"])
@pytest.mark.parametrize("shim", SHIMS, ids=["installed", "vendored"])
def test_what_the_properties_that_the_shim_tells_lack(shim: Shim, alias: str) -> None:
    taken = "accel = 1\n" if alias != "accel" else ""
    before = (
        f"import torch\n{taken}props = torch.cuda.get_device_properties(0)\n"
        "p = torch.cuda.get_device_properties(0)\nn = p.multi_processor_count\nv = p.major\n"
    )
    options = Options(shim=shim)
    first = rewrite_source(before.encode(), options=options)
    assert f"{alias}.get_device_properties(0)\nn".encode() in first.output
    assert [(f.code, f.line) for f in first.findings if f.level is Level.MANUAL] == [
        ("PTR212", 4 + bool(taken)),
        ("PTR212", 5 + bool(taken)),
    ]
    assert left(rewrite_source(first.output, options=options)) == left(first)
