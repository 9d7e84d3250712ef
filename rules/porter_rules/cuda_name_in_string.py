"""Dotted names of torch.cuda inside strings that code looks up."""

from __future__ import annotations

import re

import libcst as cst

from porter.rule import Context, Manual, Outcome, rule
from porter_rules.nodes import string_value

_DOTTED = re.compile(r"torch\.cuda(?:\.\w+)*")
_LOOKED_UP = frozenset(
    {"patch", "setattr", "delattr", "object", "multiple", "dict", "spy", "stub"}
    | {"import_module", "__import__", "reload"}
)
_WHY = (
    "the text names torch.cuda for code that looks it up, which ported code no longer goes "
    "through: patch or look up the shim's name instead ('porter_runtime.<name>'), and for code "
    "that is not ported keep this one"
)


@rule(
    "PTR208",
    on=cst.SimpleString,
    manual=[
        "mock.patch('torch.cuda.is_available', return_value=False)",
        "@patch('torch.cuda.device_count', lambda: 2)\ndef test(): ...",
        "with unittest.mock.patch('torch.cuda.synchronize'):\n    pass",
        "monkeypatch.setattr('torch.cuda.is_available', lambda: False)",
        "mocker.patch(target='torch.cuda.empty_cache')",
        "patch.multiple('torch.cuda', is_available=f)",
        "mod = importlib.import_module('torch.cuda')",
        "with patch.dict('sys.modules', {'torch.cuda': None}):\n    pass",
    ],
    valid=[
        "print('torch.cuda.is_available')",
        "raise RuntimeError('torch.cuda.is_available')",
        "x = 'see torch.cuda.is_available'",
        "mock.patch('pkg.torch.cuda.is_available')",
        "logger.info('torch.cuda')",
        "row = dict(name='torch.cuda.Stream')",
    ],
)
def cuda_name_in_string(
    original: cst.SimpleString, updated: cst.SimpleString, ctx: Context
) -> Outcome:
    """Report strings that name something of torch.cuda for a mock, a patch or an import.

    `mock.patch("torch.cuda.is_available")` doesn't reach code that calls the shim: on CUDA the
    shim's name is torch.cuda's own function, taken at its first use, and elsewhere it is another
    one. Patch `porter_runtime.is_available` where the code under test is ported.
    """
    value = string_value(original)
    if value is None or not _DOTTED.fullmatch(value):
        return None
    return Manual(_WHY) if _is_looked_up(ctx) else None


def _is_looked_up(ctx: Context) -> bool:
    """Whether a call around the string, at any depth, is one that looks names up."""
    callees = [ctx.callee(node) for node in ctx.stack if isinstance(node, cst.Call)]
    return any(c.rpartition(".")[2] in _LOOKED_UP and c != "builtins.dict" for c in callees)
