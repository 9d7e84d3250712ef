"""Which lines are new, read from git's own patches."""

from __future__ import annotations

import random

import pytest

from porter.check import added
from tests.cli.harness import Repository

PIECES = [
    b"x = 1\n",
    b"--- a/x.py\n",
    b"+++ b/y.py\n",
    b"@@ -1 +1 @@\n",
    b"diff --git a/x b/x\n",
    b"index 12..34\n",
    b"\\ No newline at end of file\n",
    b"\n",
    b"\r\n",
    b"a\rb\n",
    b"\x0c\n",
    b"-\n",
    b"+\n",
    b"\xff\xfe\n",
]
SEED = 7


def test_they_are_the_lines_that_git_counts(repository: Repository) -> None:
    draw = random.Random(SEED)
    names = [f'dir {n}/f\u00fc"{n}\t.py' for n in range(40)]
    old = {name: [draw.choice(PIECES) for _ in range(draw.randrange(30))] for name in names}
    new: dict[str, list[bytes]] = {}
    for name in names:
        repository.write(name, b"".join(old[name]))
        lines = [line for line in old[name] if draw.random() > 0.2]
        for _ in range(draw.randrange(8)):
            lines.insert(draw.randrange(len(lines) + 1), b"new = %d\n" % draw.randrange(99))
        new[name] = lines
    repository.commit()
    for name in names:
        text = b"".join(new[name])
        repository.write(name, text[:-1] if draw.random() < 0.3 else text)
    repository.git("add", "-A")
    found = {a.name.decode(): a for a in added.staged(repository.path)}
    entries = repository.git("diff", "--cached", "-w", "--numstat", "-z").split(b"\0")
    counted = [entry.split(b"\t", 2) for entry in entries if entry]
    expected = {name.decode(): int(number) for number, _, name in counted if int(number)}
    assert {name: sum(map(len, a.lines)) for name, a in found.items()} == expected
    assert len(found) > 20
    for name, each in found.items():
        texts = [new[name][line - 1] for span in each.lines for line in span]
        assert sum(line.startswith(b"new") for line in texts) == sum(
            line.startswith(b"new") for line in new[name]
        )


@pytest.mark.parametrize(
    ("data", "lines", "expected"),
    [
        (b"a\nb\nc\n", [range(2, 4)], {2, 3}),
        (b"a\r\nb\r\n", [range(2, 3)], {2}),
        (b"a\rb\nc\n", [range(1, 2)], {1, 2}),
        (b"a\rb\nc\rd\re", [range(2, 3)], {3, 4, 5}),
        (b"a\r\r\nb\n", [range(2, 3)], {3}),
    ],
)
def test_lone_carriage_returns_end_lines_for_python(
    data: bytes, lines: list[range], expected: set[int]
) -> None:
    assert added.own_lines(data, lines) == expected
