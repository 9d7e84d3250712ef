"""All rules as people see them: about code and about files of configuration."""

from __future__ import annotations

from typing import Protocol


class Page(Protocol):
    """What a rule says about itself; see `porter.rule` and `porter.configs.rule`."""

    @property
    def code(self) -> str:
        """The code, which never changes."""

    @property
    def name(self) -> str:
        """The name, in words with hyphens."""

    @property
    def doc(self) -> str:
        """The documentation."""

    @property
    def summary(self) -> str:
        """Its first line."""

    @property
    def rewrites(self) -> tuple[tuple[str, str], ...]:
        """Examples of what is rewritten: before and after."""

    @property
    def manual(self) -> tuple[str, ...]:
        """Examples of what is left to a person."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Examples of what is rightly left."""

    @property
    def valid(self) -> tuple[str, ...]:
        """Examples in which the rule finds nothing."""


def catalogue() -> list[Page]:
    """Return every rule's page, in the order of their codes."""
    from porter.configs.rule import config_rules
    from porter.rule import all_rules

    pages: list[Page] = [*all_rules(), *config_rules()]
    return sorted(pages, key=lambda page: page.code)


def page(code: str) -> Page:
    """Return a rule's page.

    The rules about code are asked first: to import the others takes time that a hook hasn't.

    Raises:
        KeyError: there is no such rule.
    """
    from porter.rule import all_rules

    for rule in all_rules():
        if rule.code == code:
            return rule
    return {each.code: each for each in catalogue()}[code]
