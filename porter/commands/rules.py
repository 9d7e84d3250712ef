"""`porter rules` and `porter explain`: what the rules say about themselves."""

from __future__ import annotations

import difflib
import json
import textwrap
from typing import TYPE_CHECKING

import click

from porter.errors import Refused

if TYPE_CHECKING:
    from porter.rule import Rule


@click.command(short_help="List the rules.")
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "md", "json"]),
    default="text",
    show_default=True,
    help="A line for each rule, a Markdown table with an example, or everything.",
)
def rules(style: str) -> None:
    """List the rules, by their codes.

    \b
    Examples:
      porter rules
      porter rules --format md          the table that the README holds
      porter rules --format json        with documentation and all examples
    """
    from porter.rule import all_rules

    known = all_rules()
    if style == "json":
        click.echo(json.dumps([_fields(rule) for rule in known], indent=2))
    elif style == "md":
        click.echo(markdown_table(known))
    else:
        width = max((len(rule.name) for rule in known), default=0)
        for rule in known:
            click.echo(f"{rule.code}  {rule.name:{width}}  {rule.summary}")


@click.command(short_help="Explain a rule.")
@click.argument("code")
def explain(code: str) -> None:
    """Say what the rule CODE does and why, with its examples. Its name will do as well.

    \b
    Examples:
      porter explain PTR101
      porter explain tensor-cuda
    """
    from porter.rule import all_rules

    known = {rule.code: rule for rule in all_rules()}
    by_name = {rule.name: rule for rule in known.values()}
    rule = known.get(code.upper()) or by_name.get(code.lower().replace("_", "-"))
    if rule is None:
        close = difflib.get_close_matches(code.upper(), known, 3)
        close += difflib.get_close_matches(code.lower(), by_name, 3)
        hint = f"did you mean {' or '.join(close)}?" if close else "`porter rules` lists them"
        raise Refused(f"there is no rule {code!r}; {hint}")
    click.echo(explanation(rule))


def markdown_table(known: list[Rule]) -> str:
    """Return a Markdown table with each rule and its first example."""
    lines = ["| code | rule | what it does | before | after |", "|---|---|---|---|---|"]
    for rule in known:
        before, after = rule.rewrites[0] if rule.rewrites else ("", "")
        cells = [rule.code, rule.name, rule.summary.replace("|", r"\|")]
        lines.append("| " + " | ".join([*cells, _cell(before), _cell(after)]) + " |")
    return "\n".join(lines)


def explanation(rule: Rule) -> str:
    """Return a rule's documentation and examples as text."""
    parts = [f"{rule.code}: {rule.name}", rule.doc]
    for title, examples in (
        ("Rewritten", [f"{before}\n  ->\n{after}" for before, after in rule.rewrites]),
        ("Left to you", rule.manual),
        ("Rightly left", rule.notes),
        ("Not this rule's", rule.valid),
    ):
        if examples:
            blocks = [textwrap.indent(example.strip("\n"), "    ") for example in examples]
            parts.append(f"{title}:\n\n" + "\n\n".join(blocks))
    return "\n\n".join(parts)


def _cell(example: str) -> str:
    """Return the part of an example that is worth a table's cell, as Markdown code."""
    lines = [
        line.strip()
        for line in textwrap.dedent(example).strip().splitlines()
        if not line.startswith(("import ", "from "))
    ] or example.strip().splitlines()
    text = " ".join(lines).replace("|", r"\|")
    return f"`` {text} ``" if "`" in text else f"`{text}`" if text else ""


def _fields(rule: Rule) -> dict[str, object]:
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
