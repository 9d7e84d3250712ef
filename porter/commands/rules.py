"""`porter rules` and `porter explain`: what the rules say about themselves."""

from __future__ import annotations

import difflib
import json
import textwrap
from typing import TYPE_CHECKING

import click

from porter.commands import examples
from porter.errors import Refused

if TYPE_CHECKING:
    from porter.catalogue import Page


@click.command(
    short_help="List the rules.",
    epilog=examples(
        "porter rules",
        "porter rules --format md        the table that the README holds",
        "porter rules --format json      with documentation and all examples",
    ),
)
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "md", "json"]),
    default="text",
    show_default=True,
    help="A line for each rule, a Markdown table with an example, or everything.",
)
def rules(style: str) -> None:
    """List the rules, by their codes."""
    from porter.catalogue import catalogue

    known = catalogue()
    if style == "json":
        click.echo(json.dumps([_fields(rule) for rule in known], indent=2))
    elif style == "md":
        click.echo(markdown_table(known))
    else:
        width = max((len(rule.name) for rule in known), default=0)
        for rule in known:
            click.echo(f"{rule.code}  {rule.name:{width}}  {rule.summary}")


@click.command(
    short_help="Explain a rule.",
    epilog=examples("porter explain PTR101", "porter explain tensor-cuda"),
)
@click.argument("code")
def explain(code: str) -> None:
    """Say what the rule CODE does and why, with its examples. Its name will do as well."""
    from porter.catalogue import catalogue

    known = {rule.code: rule for rule in catalogue()}
    by_name = {rule.name: rule for rule in known.values()}
    rule = known.get(code.upper()) or by_name.get(code.lower().replace("_", "-"))
    if rule is None:
        close = [each for each in known if each.startswith(code.upper())][:3]
        close += difflib.get_close_matches(code.lower(), by_name, 3)
        hint = f"did you mean {' or '.join(close)}?" if close else "`porter rules` lists them"
        raise Refused(f"there is no rule {code!r}; {hint}")
    click.echo(explanation(rule))


def markdown_table(known: list[Page]) -> str:
    """Return a Markdown table with each rule and its first example."""
    rows = ["| code | rule | what it does | before | after |", "|---|---|---|---|---|"]
    for rule in known:
        cells = [rule.code, rule.name, _escaped(rule.summary), *_example(rule)]
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _example(rule: Page) -> tuple[str, str]:
    """Return the cells for what a rule finds and what becomes of it: the lines that differ."""
    if rule.rewrites:
        before, after = (textwrap.dedent(text).splitlines() for text in rule.rewrites[0])
        return (
            _code([line for line in before if line not in after]),
            _code([line for line in after if line not in before]),
        )
    for texts, outcome in ((rule.manual, "*left to you*"), (rule.notes, "*rightly left*")):
        if texts:
            lines = textwrap.dedent(texts[0]).splitlines()
            return _code([x for x in lines if not x.startswith("import ")] or lines), outcome
    return "", ""


def _code(lines: list[str]) -> str:
    spans = [_escaped(line.strip()) for line in lines if line.strip()]
    return "<br>".join(f"`` {span} ``" if "`" in span else f"`{span}`" for span in spans)


def _escaped(text: str) -> str:
    return text.replace("|", r"\|")


def explanation(rule: Page) -> str:
    """Return a rule's documentation and examples as text."""
    rewrites = [f"{_block(before)}\n      ->\n{_block(after)}" for before, after in rule.rewrites]
    parts = [f"{rule.code}: {rule.name}", rule.doc]
    for title, blocks in (
        ("Rewritten", rewrites),
        ("Left to you", [_block(text) for text in rule.manual]),
        ("Rightly left", [_block(text) for text in rule.notes]),
        ("Not this rule's", [_block(text) for text in rule.valid]),
    ):
        if blocks:
            parts.append(f"{title}:\n\n" + "\n\n".join(blocks))
    return "\n\n".join(parts)


def _block(example: str) -> str:
    return textwrap.indent(textwrap.dedent(example).strip("\n"), "    ")


def _fields(rule: Page) -> dict[str, object]:
    return {
        "code": rule.code,
        "name": rule.name,
        "summary": rule.summary,
        "documentation": rule.doc,
        "rewrites": [{"before": before, "after": after} for before, after in rule.rewrites],
        "manual": rule.manual,
        "notes": rule.notes,
        "valid": rule.valid,
    }
