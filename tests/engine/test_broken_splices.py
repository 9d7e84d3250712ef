"""300 splices broken on purpose over real files: the guards stop them, or they do no harm."""

from __future__ import annotations

import ast
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from porter.engine import rewrite_source
from porter.engine.guards import GuardError, check
from porter.engine.locate import locate
from porter.engine.source import Source, SourceError
from porter.engine.splice import Change, Spliced

KINDS = ("start", "end", "shifted", "parenthesis", "comment", "elsewhere")
SEED = 20261130


@dataclass
class Port:
    """What the guards get to see of a file."""

    name: str
    source: Source
    tree: ast.Module
    changes: list[Change]
    extents: list[tuple[int, int]]

    def with_change(self, at: int, change: Change) -> Spliced:
        """Splice with one change replaced."""
        changes = [*self.changes[:at], change, *self.changes[at + 1 :]]
        return Spliced(self.source.data, changes)


COMMENTED = b"""
y = f(
    x  # one
    .cuda(  # two
        rank,  # three
        non_blocking=True,
    ),  # four
    (z.device  # five
     .type == "cuda"),
)
"""


def port_of(name: str, data: bytes) -> Port:
    """Return the port of one file."""
    source = Source.decode(data)
    tree = source.parse()
    survey = locate(source, tree)
    changes = rewrite_source(data).changes
    return Port(name, source, tree, [*changes], survey.extents)


def ports(folder: Path) -> list[Port]:
    """Return the ports of a project's files that have any."""
    found = [port_of(p.name, p.read_bytes()) for p in sorted(folder.rglob("*.py"))]
    return [p for p in found if any(c.kind == "expression" for c in p.changes)]


def faulty(kind: str, change: Change, size: int, draw: random.Random) -> Change | None:
    """Return the change with a fault of the kind, None where it has nothing to break."""
    step = draw.choice((-1, 1))
    match kind:
        case "start":
            return replace(change, start=change.start + step)
        case "end":
            return replace(change, end=change.end + step)
        case "shifted":
            return replace(change, start=change.start + step, end=change.end + step)
        case "parenthesis":
            places = [i for i, c in enumerate(change.text) if c in b"()"]
            at = draw.choice(places) if places else -1
            return (
                replace(change, text=change.text[:at] + change.text[at + 1 :]) if places else None
            )
        case "comment":
            at = change.text.find(b"#")
            end = change.text.find(b"\n", at)
            return replace(change, text=change.text[:at] + change.text[end:]) if at >= 0 else None
    room = size - (change.end - change.start)
    if room <= 0:
        return None
    start = draw.randrange(room)
    by = start - change.start
    core = (change.core[0] + by, change.core[1] + by)
    return replace(change, start=start, end=change.end + by, core=core)


def broken(found: list[Port], count: int) -> Iterator[tuple[str, Port, int, Change]]:
    """Yield faults, as many of each kind, drawn with a fixed seed."""
    draw = random.Random(SEED)
    commented = [port_of("commented.py", COMMENTED)]
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        change = None
        while change is None:
            port = draw.choice(commented if kind == "comment" else found)
            at = draw.randrange(len(port.changes))
            if port.changes[at].kind == "expression":
                change = faulty(kind, port.changes[at], len(port.source.data), draw)
        yield kind, port, at, change


def test_no_broken_splice_does_harm(project) -> None:  # type: ignore[no-untyped-def]
    found = ports(project("accelerate==0.20.3")) + ports(project("yolov5==7.0.13"))
    caught: Counter[str] = Counter()
    harmless: list[str] = []
    for kind, port, at, change in broken(found, 300):
        try:
            spliced = port.with_change(at, change)
            check(port.source, port.tree, spliced, port.extents)
        except (GuardError, SourceError, ValueError):
            caught[kind] += 1
            continue
        # What gets through only moved a blank: the program is the one that was meant.
        sound = port.with_change(at, port.changes[at])
        assert ast.dump(ast.parse(spliced.data)) == ast.dump(ast.parse(sound.data)), (kind, change)
        harmless.append(f"{kind}: {port.name} {change}")
    assert caught.total() + len(harmless) == 300
    assert set(caught) == set(KINDS)
    assert len(harmless) <= 6, "\n".join(harmless)
