"""One file of configuration: read, ask the rules, heed pragmas, splice, guard."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from porter import kinds
from porter.configs import document
from porter.configs.guard import Added, Broken, check
from porter.configs.pragmas import ConfigPragmas
from porter.configs.prefilter import may_have_sites
from porter.configs.read.leaf import Unreadable
from porter.configs.rule import ConfigRule, Manual, Note, Twin, config_rules
from porter.configs.subjects import Subject, Variable
from porter.engine.pragmas import MARK
from porter.engine.source import Source
from porter.engine.splice import Change, Spliced
from porter.model import UNREADABLE, Finding, Level, Only, Options, Rewrite, Suppressed


@dataclass(frozen=True)
class _Site:
    """A finding, and what has to be put behind the site for it to be rewritten."""

    subject: Subject
    finding: Finding
    added: Added | None = None


def rewrite_config(
    data: bytes, *, name: str, options: Options, only: Only | None = None
) -> Rewrite:
    """Find what a file of configuration says of CUDA; never raises for what it holds.

    A file that is named after another device is taken at its word, and has no findings.

    Args:
        data: the file's bytes.
        name: the file's path in its repository, with forward slashes.
        options: which rules; `options.configs` lets what is right on every device be rewritten.
        only: tells which findings are to be rewritten or reported; None means all.

    Returns:
        The new bytes and the findings. What could be rewritten, but was not to be, is a Manual
        finding with its replacement. Input that can't be read comes back as it was, with one
        finding of the level ERROR.
    """
    if _is_for_another_device(name):
        return Rewrite(data, ())
    kind = kinds.of(name) or kinds.of_script(data)
    has_sites = may_have_sites(data, kind)
    if not has_sites and MARK not in data:
        return Rewrite(data, ())
    bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    source = Source(data[len(bom) :], "utf-8", bom)
    try:
        text = source.data.decode("utf-8")
        leaves = document.leaves(text, kind)
        subjects = document.subjects(text, kind) if has_sites else []
    except UnicodeDecodeError as error:
        return Rewrite(data, (_unreadable(f"not UTF-8 at byte {error.start}: {_ADVICE}", 1, 1),))
    except Unreadable as error:
        line, column = _position(source, text, error.offset)
        return Rewrite(data, (_unreadable(f"{error}: {_ADVICE}", line, column),))
    pragmas = ConfigPragmas(source, kind, leaves)
    if pragmas.skip_file:
        return Rewrite(data, ())
    sites: list[_Site] = []
    suppressed: list[Suppressed] = []
    for site in _sites(source, text, subjects, options):
        reason = pragmas.reason(site.finding)
        if reason is not None:
            suppressed.append(Suppressed(site.finding, reason))
        elif only is None or only(site.finding):
            sites.append(site)
    rules = config_rules()
    idle = pragmas.idle(options, [rule.code for rule in rules])
    findings = sorted(
        (*(s.finding for s in sites), *(f for f in idle if options.wants(f.code))),
        key=lambda f: (f.line, f.column, f.code),
    )
    changes = _changes(text, sites)
    spliced = Spliced(source.data, changes)
    added = [site.added for site in sites if site.added is not None]
    try:
        if changes:
            check(text, spliced.data.decode("utf-8"), kind, added)
    except Broken as error:
        return Rewrite(data, (_own_fault(error, changes),))
    return Rewrite(source.encode(spliced.data), tuple(findings), tuple(suppressed), tuple(changes))


_OTHER_DEVICES = frozenset("amd ascend gaudi hpu mlu musa npu rocm tpu xpu".split())


def _is_for_another_device(name: str) -> bool:
    """Whether a file's name, or a folder's, says that it isn't meant for CUDA.

    What it asks for is there: `examples/npu/lora.yaml` knows whether its libraries can do it.
    """
    return not _OTHER_DEVICES.isdisjoint(re.split(r"[^a-z0-9]+", name.lower()))


_ADVICE = "mend the file, or leave it out by `exclude`"


def _sites(
    source: Source, text: str, subjects: Sequence[Subject], options: Options
) -> Iterator[_Site]:
    """Ask the rules about each subject."""
    rules: dict[type[Subject], list[ConfigRule]] = {}
    for rule in config_rules():
        if options.wants(rule.code):
            rules.setdefault(rule.subject, []).append(rule)
    for at, subject in enumerate(subjects):
        for rule in rules.get(type(subject), ()):
            answer = rule.ask(subject)
            if isinstance(answer, Twin) and _is_set(answer.name, subjects, at):
                answer = Note(f"{answer.remark}: {answer.name} is set beside it")
            if answer is None:
                continue
            finding = _finding(source, text, rule.code, subject, answer)
            if not isinstance(answer, Twin) or not isinstance(subject, Variable):
                yield _Site(subject, finding)
                continue
            entry = text[subject.start : subject.end]
            if subject.separator is None or subject.value is None:
                yield _Site(subject, finding)
                continue
            more = subject.separator + entry.replace(subject.name, answer.name, 1)
            finding = replace(finding, replacement=entry + more)
            if options.configs:
                finding = replace(finding, level=Level.REWRITTEN, message=answer.remark)
                yield _Site(subject, finding, Added(more, answer.name, subject.value))
            else:
                yield _Site(subject, finding)


def _is_set(name: str, subjects: Sequence[Subject], at: int) -> bool:
    """Whether a variable is set among those right beside the subject number `at`."""
    for step in (1, -1):
        place = at + step
        while 0 <= place < len(subjects):
            subject = subjects[place]
            if not isinstance(subject, Variable):
                break
            if subject.name == name:
                return True
            place += step
    return False


def _changes(text: str, sites: Sequence[_Site]) -> list[Change]:
    """Return what rewrites the sites; each replaces the whole of its subject."""
    return [
        Change(
            _bytes(text, site.subject.start),
            _bytes(text, site.subject.end),
            (text[site.subject.start : site.subject.end] + site.added.text).encode("utf-8"),
            "value",
            site.finding.code,
        )
        for site in sites
        if site.added is not None
    ]


def _finding(
    source: Source, text: str, code: str, subject: Subject, answer: Manual | Note | Twin
) -> Finding:
    line, column = _position(source, text, subject.start)
    end_line, end_column = _position(source, text, subject.end)
    return Finding(
        code,
        Level.NOTE if isinstance(answer, Note) else Level.MANUAL,
        answer.why,
        line,
        column,
        end_line,
        end_column,
        source=source.line_text(line),
        first_line=line,
    )


def _position(source: Source, text: str, offset: int) -> tuple[int, int]:
    return source.position(_bytes(text, offset))


def _bytes(text: str, offset: int) -> int:
    return len(text[:offset].encode("utf-8"))


def _unreadable(message: str, line: int, column: int) -> Finding:
    return Finding(UNREADABLE, Level.ERROR, message, line, column, line, column, first_line=line)


def _own_fault(error: Broken, changes: Sequence[Change]) -> Finding:
    codes = ", ".join(sorted({change.code for change in changes}))
    return _unreadable(
        f"left as it was, since its rewrite failed a check ({error}); the fault is porter's, in "
        f"{codes}: please report it, and run without --configs until it is mended",
        1,
        1,
    )
