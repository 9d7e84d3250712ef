"""YAML: its scalars, by the events of PyYAML, which have exact places.

Events are what the parser sees before anything is made of them: anchors, tags, several documents
and keys that occur twice are no matter, and nothing of the file is ever constructed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from porter.configs.read.leaf import Leaf, Unreadable, masked, separator

_PROPERTIES = re.compile(r"(?:[&!]\S*[ \t]+)*(?:[&!]\S*(?=\s|\Z))?\s*")
"""The anchor and the tag before a value."""


@dataclass
class _Holder:
    """A mapping or a list that is being read; a mapping's `key` is None where one is awaited."""

    number: int
    keys: tuple[str, ...]
    is_mapping: bool
    is_flow: bool
    key: str | None = None
    key_start: int = 0

    @property
    def inner(self) -> tuple[str, ...]:
        return self.keys if self.key is None else (*self.keys, self.key)


def leaves(text: str) -> list[Leaf]:
    """Return the values of all documents in YAML text, in their order.

    Raises:
        Unreadable: it isn't YAML. A template that isn't either, without the marks of its
            template language, has no values.
    """
    try:
        return _leaves(text, text)
    except Unreadable:
        plain = masked(text)
        if plain == text:
            raise
    try:
        return _leaves(plain, text)
    except Unreadable:
        return []


def _leaves(parsed: str, text: str) -> list[Leaf]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found: list[Leaf] = []
    holders: list[_Holder] = []
    count = 0
    try:
        for event in yaml.parse(parsed, Loader=loader):
            if isinstance(event, yaml.CollectionStartEvent):
                count += 1
                is_mapping = isinstance(event, yaml.MappingStartEvent)
                keys = holders[-1].inner if holders else ()
                holders.append(_Holder(count, keys, is_mapping, bool(event.flow_style)))
            elif isinstance(event, yaml.CollectionEndEvent):
                holders.pop()
                _value_ended(holders)
            elif isinstance(event, yaml.AliasEvent):
                if not _is_key(holders, "", 0):
                    _value_ended(holders)
            elif isinstance(event, yaml.ScalarEvent):
                start, end = _index(event.start_mark), _index(event.end_mark)
                if _is_key(holders, event.value, start):
                    continue
                found.append(_leaf(text, holders, event, start, end))
                _value_ended(holders)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        raise Unreadable(f"not YAML: {problem}", _index(mark)) from error
    except (RecursionError, ValueError) as error:
        raise Unreadable(f"not YAML: {error}") from error
    return found


def _index(mark: object) -> int:
    return int(getattr(mark, "index", 0))


def _is_key(holders: list[_Holder], value: str, start: int) -> bool:
    """Whether the event that came is a key; if so, it is remembered."""
    if not holders or not holders[-1].is_mapping or holders[-1].key is not None:
        return False
    holders[-1].key, holders[-1].key_start = value, start
    return True


def _value_ended(holders: list[_Holder]) -> None:
    """Await the next key; what ended may have been a key itself: `? [a, b]`."""
    if holders and holders[-1].is_mapping:
        holders[-1].key = None if holders[-1].key is not None else "?"


def _leaf(text: str, holders: list[_Holder], event: object, start: int, end: int) -> Leaf:
    value, style = getattr(event, "value", ""), getattr(event, "style", None)
    properties = _PROPERTIES.match(text, start, end)
    start = properties.end() if properties else start
    holder = holders[-1] if holders else _Holder(0, (), False, False)
    key_start = holder.key_start if holder.is_mapping else None
    between = None
    if holder.is_flow:
        between = ", "
    elif style not in ("|", ">"):
        place = start if key_start is None else key_start
        between = separator(text, place, end, "- +" if key_start is None else "")
    return Leaf(
        holder.inner,
        value,
        start,
        end,
        key_start,
        holder.number,
        between,
        is_block=style in ("|", ">"),
    )
