from __future__ import annotations

import json
from dataclasses import replace

import pytest

from porter.catalogue import catalogue
from porter.commands.rules import explanation, markdown_table
from porter.rule import Rule
from tests.cli.harness import Porter

RULE = Rule(
    code="PTR998",
    name="pipe-dream",
    doc="Turn a | b into c.\n\nBecause it reads better.",
    rewrites=(("import torch\nx.cuda() | y\n", "import torch\nx | y\n"), ("a = `b`", "a = b")),
    manual=("left()\nhere()",),
    notes=("noted()",),
    valid=("fine()",),
)


def test_rules_lists_each_rule_on_a_line(porter: Porter) -> None:
    done = porter("rules")
    lines = done.out.decode().splitlines()
    assert [line.split()[:2] for line in lines] == [[r.code, r.name] for r in catalogue()]
    assert all(line.endswith(r.summary) for line, r in zip(lines, catalogue(), strict=True))


def test_rules_as_json_hold_everything(porter: Porter) -> None:
    document = json.loads(porter("rules", "--format", "json").out)
    assert [entry["code"] for entry in document] == [rule.code for rule in catalogue()]
    for entry, rule in zip(document, catalogue(), strict=True):
        assert entry["documentation"] == rule.doc
        assert [(e["before"], e["after"]) for e in entry["rewrites"]] == list(rule.rewrites)
        assert (entry["manual"], entry["valid"]) == (list(rule.manual), list(rule.valid))


def test_rules_as_a_table(porter: Porter) -> None:
    table = porter("rules", "--format", "md").out.decode()
    assert table == markdown_table(catalogue()) + "\n"
    assert len(table.splitlines()) == len(catalogue()) + 2


def row(rule: Rule) -> str:
    return markdown_table([rule]).splitlines()[2]


def test_a_table_row_holds_the_lines_that_differ_and_escapes_its_bars() -> None:
    expected = r"| PTR998 | pipe-dream | Turn a \| b into c. | `x.cuda() \| y` | `x \| y` |"
    assert row(RULE) == expected
    two = replace(RULE, rewrites=(("a = `1`\nb\nc", "a = 2\nb\nd"),))
    assert row(two).endswith("| `` a = `1` ``<br>`c` | `a = 2`<br>`d` |")


def test_a_table_row_says_what_becomes_of_what_is_not_rewritten() -> None:
    manual = replace(RULE, rewrites=(), manual=("import torch\nleft()",))
    assert row(manual).endswith("| `left()` | *left to you* |")
    assert row(replace(manual, manual=())).endswith("| `noted()` | *rightly left* |")
    assert row(replace(manual, manual=(), notes=())).endswith("|  |  |")


@pytest.mark.parametrize("asked", ["PTR101", "ptr101", "tensor-cuda", "tensor_cuda"])
def test_explain_takes_codes_and_names(porter: Porter, asked: str) -> None:
    done = porter("explain", asked)
    (rule,) = [rule for rule in catalogue() if rule.code == "PTR101"]
    assert done.code == 0
    assert done.out.decode() == explanation(rule) + "\n"


def test_an_explanation_holds_documentation_and_all_examples() -> None:
    assert explanation(RULE) == (
        "PTR998: pipe-dream\n\n"
        "Turn a | b into c.\n\nBecause it reads better.\n\n"
        "Rewritten:\n\n"
        "    import torch\n    x.cuda() | y\n      ->\n    import torch\n    x | y\n\n"
        "    a = `b`\n      ->\n    a = b\n\n"
        "Left to you:\n\n    left()\n    here()\n\n"
        "Rightly left:\n\n    noted()\n\n"
        "Not this rule's:\n\n    fine()"
    )


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("PTR10", "there is no rule 'PTR10'; did you mean PTR101 or "),
        ("tensor-cudda", "did you mean tensor-cuda"),
        ("zzz", "there is no rule 'zzz'; `porter rules` lists them"),
    ],
)
def test_an_unknown_rule_is_refused_with_what_was_likely_meant(
    porter: Porter, asked: str, hint: str
) -> None:
    done = porter("explain", asked)
    assert (done.code, done.out) == (2, b"")
    assert hint in done.err


@pytest.mark.parametrize("command", ["", "rewrite", "rules", "explain", "vendor"])
def test_help_has_examples(porter: Porter, command: str) -> None:
    done = porter(*command.split(), "--help")
    assert done.code == 0
    assert b"\n  Examples:\n    porter " in done.out


def test_version(porter: Porter) -> None:
    import porter as package

    assert porter("--version").out.decode() == f"porter, version {package.__version__}\n"
