"""Which rules to ask about a fragment: most have nothing to say about most fragments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import libcst as cst

from porter.engine.fragment import Fragment
from porter.rule import Rule

RuleTable = Mapping[type[cst.CSTNode], Sequence[Rule]]


class RuleBook:
    """The rules of a run, by the words that they need and the nodes that they want to see."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        """Take the rules in the order in which they are to be asked."""
        self._rules = rules
        self._words = sorted({word for rule in rules for word in rule.needs})
        self._tables: dict[frozenset[str], RuleTable] = {}

    def table(self, fragment: Fragment) -> RuleTable:
        """Return the rules that may speak about a fragment, by node type."""
        text = " ".join([fragment.text, *(meaning for _, meaning in fragment.names)])
        present = frozenset(word for word in self._words if word in text)
        table = self._tables.get(present)
        if table is None:
            table = self._tables[present] = self._table(present)
        return table

    def _table(self, present: frozenset[str]) -> RuleTable:
        table: dict[type[cst.CSTNode], list[Rule]] = {}
        for rule in self._rules:
            if not rule.needs or present.intersection(rule.needs):
                for node_type in dict.fromkeys(rule.on):
                    table.setdefault(node_type, []).append(rule)
        return table
