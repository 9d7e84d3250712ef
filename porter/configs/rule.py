r"""The interface between files of configuration and their rules.

A rule is a pure function from one subject to an answer, with its examples in the decorator::

    @config_rule("PTR801", on=Setting, manual=[("train.yaml", "device: cuda:0\n")])
    def config_device(setting):
        '''Point out devices that are named in configuration. ...'''

A subject is the same in every format: `device: cuda` in YAML, `"device": "cuda"` in JSON and
`--device cuda` in a shell script are settings of the key "device".
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from porter.configs.subjects import Subject
from porter.model import Level


@dataclass(frozen=True)
class Manual:
    """Recognised, but left: `why` names the construct, the reason and the next step."""

    why: str


@dataclass(frozen=True)
class Note:
    """Recognised and rightly left: `why` tells the reader that there is nothing to do."""

    why: str


@dataclass(frozen=True)
class Twin:
    """A further variable with the same value, to be set beside the one that is looked at.

    `why` is said where that is left to a person, `remark` where porter does it.
    """

    name: str
    why: str
    remark: str


Answer = Manual | Note | Twin | None
Ask = Callable[[Subject], Answer]
Example = tuple[str, str]
AnySubject = TypeVar("AnySubject", bound=Subject)


@dataclass(frozen=True)
class Sample:
    """An example: a file's name and text, how it ends (None: not found), the text afterwards."""

    name: str
    text: str
    level: Level | None
    after: str


@dataclass(frozen=True)
class ConfigRule:
    """A registered rule: its function, and the samples that document and test it."""

    code: str
    name: str
    doc: str
    subject: type[Subject]
    ask: Ask
    samples: tuple[Sample, ...]

    @property
    def summary(self) -> str:
        """The first line of the documentation."""
        return self.doc.partition("\n")[0]

    @property
    def rewrites(self) -> tuple[tuple[str, str], ...]:
        """Texts that are rewritten under `--configs`, and what becomes of them."""
        return tuple((s.text, s.after) for s in self.samples if s.level is Level.REWRITTEN)

    @property
    def manual(self) -> tuple[str, ...]:
        """Texts that are left to a person."""
        return self._texts(Level.MANUAL)

    @property
    def notes(self) -> tuple[str, ...]:
        """Texts that are rightly left."""
        return self._texts(Level.NOTE)

    @property
    def valid(self) -> tuple[str, ...]:
        """Texts in which the rule finds nothing."""
        return self._texts(None)

    def _texts(self, level: Level | None) -> tuple[str, ...]:
        return tuple(sample.text for sample in self.samples if sample.level is level)


_RULES: dict[str, ConfigRule] = {}


def config_rule(
    code: str,
    *,
    on: type[AnySubject],
    rewrites: Sequence[tuple[str, str, str]] = (),
    manual: Sequence[Example] = (),
    notes: Sequence[Example] = (),
    valid: Sequence[Example] = (),
) -> Callable[[Callable[[AnySubject], Answer]], Callable[[AnySubject], Answer]]:
    """Register the decorated function as the rule `code` for subjects of a type.

    Args:
        code: "PTR8" and two digits; never reused.
        on: what the function is called for.
        rewrites: (file name, text, text after `--configs`); without it these are left.
        manual: (file name, text that is left, with a Manual finding of this code).
        notes: (file name, text that is left, with a Note of this code).
        valid: (file name, text in which this rule finds nothing).

    Raises:
        ValueError: the code is taken, or the docstring is missing.
    """
    samples = (
        *(Sample(name, before, Level.REWRITTEN, after) for name, before, after in rewrites),
        *(Sample(name, text, Level.MANUAL, text) for name, text in manual),
        *(Sample(name, text, Level.NOTE, text) for name, text in notes),
        *(Sample(name, text, None, text) for name, text in valid),
    )

    def decorate(function: Callable[[AnySubject], Answer]) -> Callable[[AnySubject], Answer]:
        if code in _RULES:
            raise ValueError(f"{code} is taken by {_RULES[code].name}")
        doc = inspect.cleandoc(function.__doc__ or "")
        if not doc:
            raise ValueError(f"{code} has no docstring")
        name = function.__name__.replace("_", "-")
        _RULES[code] = ConfigRule(code, name, doc, on, cast(Ask, function), samples)
        return function

    return decorate


def config_rules() -> list[ConfigRule]:
    """Return every rule about files of configuration, in the order of their codes."""
    from porter_rules import configs

    configs.load()
    return [_RULES[code] for code in sorted(_RULES)]
