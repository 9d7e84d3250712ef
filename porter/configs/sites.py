"""Asking the rules: from what a file speaks of to findings, and to what would be written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from porter.configs.guard import Added
from porter.configs.place import Places
from porter.configs.rule import Answer, ConfigRule, Note, Twin, config_rules
from porter.configs.subjects import Subject, Variable
from porter.model import Finding, Level, Options


@dataclass(frozen=True)
class Site:
    """A finding, and what is to be put behind the site where it is rewritten."""

    subject: Subject
    finding: Finding
    added: Added | None = None


def sites(places: Places, subjects: Sequence[Subject], options: Options) -> Iterator[Site]:
    """Ask the rules about each subject.

    Args:
        places: of the file.
        subjects: what it speaks of, by place.
        options: which rules, and whether what can be rewritten is to be.
    """
    rules: dict[type[Subject], list[ConfigRule]] = {}
    for rule in config_rules():
        if options.wants(rule.code):
            rules.setdefault(rule.subject, []).append(rule)
    for at, subject in enumerate(subjects):
        for rule in rules.get(type(subject), ()):
            answer = rule.ask(subject)
            if isinstance(answer, Twin) and isinstance(subject, Variable):
                yield _paired(places, rule.code, subjects, at, answer, options)
            elif answer is not None:
                yield Site(subject, _finding(places, rule.code, subject, answer))


def _paired(
    places: Places,
    code: str,
    subjects: Sequence[Subject],
    at: int,
    twin: Twin,
    options: Options,
) -> Site:
    """Return the site of a variable beside which another is to be set."""
    subject = subjects[at]
    assert isinstance(subject, Variable)
    if _is_set(twin.name, subject.name, subjects, at):
        note = Note(f"{subject.name} has {twin.name} beside it, so there is nothing to do")
        return Site(subject, _finding(places, code, subject, note))
    finding = _finding(places, code, subject, twin)
    if subject.separator is None or subject.value is None:
        return Site(subject, finding)
    entry = places.text[subject.start : subject.end]
    more = subject.separator + entry.replace(subject.name, twin.name, 1)
    finding = replace(finding, replacement=entry + more)
    if not options.configs:
        return Site(subject, finding)
    finding = replace(finding, level=Level.REWRITTEN, message=twin.remark)
    return Site(subject, finding, Added(more, twin.name, subject.value))


def _is_set(name: str, beside: str, subjects: Sequence[Subject], at: int) -> bool:
    """Whether a variable is set right beside `subjects[at]`, before `beside` is set again."""
    for step in (1, -1):
        place = at + step
        while 0 <= place < len(subjects):
            subject = subjects[place]
            if not isinstance(subject, Variable) or subject.name == beside:
                break
            if subject.name == name:
                return True
            place += step
    return False


def _finding(places: Places, code: str, subject: Subject, answer: Answer) -> Finding:
    assert answer is not None
    line, column = places.position(subject.start)
    end_line, end_column = places.position(subject.end)
    return Finding(
        code,
        Level.NOTE if isinstance(answer, Note) else Level.MANUAL,
        answer.why,
        line,
        column,
        end_line,
        end_column,
        source=places.line(line),
        first_line=line,
    )
