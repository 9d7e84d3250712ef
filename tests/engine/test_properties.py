"""What holds for any program: modules spliced at random from the rules' own examples."""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from porter.engine import may_have_sites, rewrite_source
from porter.model import Level, Options
from porter.rule import all_rules

sys.path.insert(0, str(Path(__file__).parents[1] / "corpus"))

from invariants import violations

EXAMPLES = sorted(
    {before for rule in all_rules() for before, _ in rule.rewrites}
    | {text for rule in all_rules() for text in (*rule.manual, *rule.notes, *rule.valid)}
)
CODES = [rule.code for rule in all_rules()]
WRAPPERS = [
    "{}",
    "def f(a, b):\n    '''Doc: x.cuda() on cuda:0.'''\n{4}\n    return a\n",
    "class C(Base):\n    def g(self):\n{8}\n",
    "if flag:\n{4}\nelse:\n{4}\n",
    "try:\n{4}\nexcept Exception:  # torch.cuda\n    pass\n",
    "with open('cuda') as f:\n{4}\n",
    "for i in range(2):\n    # a comment about cuda\n{4}\n",
    "async def h():\n{4}\n",
    "def outer():\n    def inner(torch_=None):\n{8}\n    return inner\n",
]


def wrap(wrapper: str, text: str) -> str:
    """Put a piece of code into a wrapper, indented as its place asks."""
    return re.sub(r"\{(\d*)\}", lambda m: textwrap.indent(text, " " * int(m[1] or 0)), wrapper)


@st.composite
def modules(draw: st.DrawFn) -> str:
    """Draw a module: examples in blocks, with comments, another name for torch, CRLF."""
    pieces = draw(st.lists(st.sampled_from(EXAMPLES), min_size=1, max_size=4))
    body = ""
    for piece in pieces:
        text = piece if piece.endswith("\n") else f"{piece}\n"
        if "__future__" not in text and "import *" not in text:
            text = wrap(draw(st.sampled_from(WRAPPERS)), text)
        if draw(st.booleans()):
            text = f"# {draw(st.sampled_from(['cuda', 'see torch.cuda', 'plain']))}\n{text}"
        body += text
    head = "import torch\n" if draw(st.booleans()) else ""
    text = head + body
    if draw(st.booleans()) and "import" not in body and "torch" not in body.replace("torch.", ""):
        text = "import torch as th\n" + re.sub(r"\btorch\.", "th.", body)
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


def parses(text: str) -> bool:
    """Whether the module is one: some examples don't go into every block."""
    try:
        compile(text, "module", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def code_of(data: bytes) -> str:
    """Return the program without the shim's imports: earlier runs may have put one further out."""
    text = re.sub(r"import porter_runtime as \w+(; )?", "pass; ", data.decode())
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            body[:] = [s for s in body if not isinstance(s, ast.Pass)]
    return ast.dump(tree)


FUZZ = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)


@FUZZ
@given(modules().filter(parses))
def test_invariants_hold(text: str) -> None:
    before = text.encode()
    result = rewrite_source(before)
    assert not list(violations(before, result))
    assert parses(result.output.decode())


@FUZZ
@given(modules().filter(parses))
def test_one_by_one_equals_all_at_once(text: str) -> None:
    together = rewrite_source(text.encode()).output
    alone = text.encode()
    for code in reversed(CODES):  # what surrounds a name before the name itself
        alone = rewrite_source(alone, options=Options(select=(code,))).output
    assert code_of(alone) == code_of(together)


@FUZZ
@given(modules().filter(parses))
def test_a_file_without_trigger_words_is_returned_as_it_is(text: str) -> None:
    data = text.encode()
    if not may_have_sites(data):
        assert rewrite_source(data).output is data


@FUZZ
@given(modules().filter(parses))
def test_a_port_leaves_only_what_it_reported(text: str) -> None:
    first = rewrite_source(text.encode())
    second = rewrite_source(first.output)
    assert not [f for f in second.findings if f.level is Level.REWRITTEN]
    left = Counter((f.code, f.message) for f in first.findings if f.level is Level.MANUAL)
    again = Counter((f.code, f.message) for f in second.findings if f.level is Level.MANUAL)
    assert again <= left
