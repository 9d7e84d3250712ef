"""Calls that lack arguments, or have too many: no rule may fail, or write what is no Python.

Every call in the rules' examples is tried without arguments, without its first one, with its first
one twice, with all its keywords given by position, and with its arguments behind stars.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from porter.engine import rewrite_source
from porter.rule import Rule, all_rules

STARRED = ast.Starred(ast.Name("args"))
HIDDEN = ast.keyword(None, ast.Name("kwargs"))


def crippled(text: str) -> Iterator[str]:
    """Yield the module with one of its calls changed, for each call and each way."""
    tree = ast.parse(text)
    for call in [n for n in ast.walk(tree) if isinstance(n, ast.Call)]:
        args, keywords = call.args, call.keywords
        values = [k.value for k in keywords if k.arg is not None]
        ways: list[tuple[list[ast.expr], list[ast.keyword]]] = [
            ([], []),
            (args[1:], keywords),
            ([*args[:1], *args], keywords),
            ([*args, *values], []),
            ([*args, *values], keywords),
            ([STARRED], []),
            ([*args, STARRED], keywords),
            ([], [HIDDEN]),
            (args, [*keywords, HIDDEN]),
        ]
        for call.args, call.keywords in ways:
            yield f"# CUDA\n{ast.unparse(tree)}\n"
        call.args, call.keywords = args, keywords


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_no_call_is_too_odd(rule: Rule) -> None:
    examples = [*(before for before, _ in rule.rewrites), *rule.manual, *rule.notes, *rule.valid]
    for text in {variant for example in examples for variant in crippled(example)}:
        result = rewrite_source(text.encode())
        assert not result.failed, (text, result.findings)
        again = rewrite_source(result.output)
        assert again.output == result.output, text
