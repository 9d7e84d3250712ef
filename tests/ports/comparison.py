"""Holds a port that porter makes against one that was made by hand, place by place."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path
from typing import Literal

Verdict = Literal["same", "better", "reported", "missed"]
VERDICTS: tuple[Verdict, ...] = ("same", "better", "reported", "missed")


@dataclass(frozen=True)
class Site:
    """A place in the original, or several of the same kind in one file.

    What porter made of it isn't written here: it is looked up in the port.

    Attributes:
        path: the file below the package.
        before: text of its line, one place for each line that has it.
        by_hand: texts that the hand-made port has in that file for it; none where it left it.
        verdict: how porter handles it, beside the hand-made port.
        why: what the difference comes to.
    """

    path: str
    before: str
    by_hand: tuple[str, ...]
    verdict: Verdict
    why: str = ""


@dataclass(frozen=True)
class Place:
    """A line of a site: its number from 1, its text, that of the port, and codes of findings."""

    line: int
    text: str
    ported: str
    codes: list[str]

    @property
    def is_changed(self) -> bool:
        return self.text != self.ported


@dataclass(frozen=True)
class Comparison:
    """Folders of a package: as it was, as ported by hand, and as ported by porter.

    Attributes:
        report: what `porter rewrite --format json` said when it ported `original`.
    """

    original: Path
    by_hand: Path
    port: Path
    report: str

    def places(self, site: Site) -> list[Place]:
        """Returns the lines that a site stands for."""
        after = self._ported(site.path)
        return [
            Place(line, text, after[line], self._codes.get((site.path, line), []))
            for line, text in self._lines(site.path)
            if site.before in text
        ]

    def changed(self) -> Iterator[tuple[str, int, str]]:
        """Yields each line that porter changed, imports aside: file, number and text."""
        for path in sorted(self.original.rglob("*.py")):
            name = path.relative_to(self.original).as_posix()
            after = self._ported(name)
            for line, text in self._lines(name):
                if after[line] != text and not text.startswith(("import ", "from ")):
                    yield name, line, text

    def text_by_hand(self, path: str) -> str:
        """Returns a file of the hand-made port."""
        return (self.by_hand / path).read_text()

    def _lines(self, path: str) -> Iterator[tuple[int, str]]:
        return enumerate((self.original / path).read_text().splitlines(), start=1)

    def _ported(self, path: str) -> dict[int, str]:
        before = (self.original / path).read_text().splitlines()
        after = (self.port / path).read_text().splitlines()
        return ported_lines(before, after)

    @cached_property
    def _codes(self) -> dict[tuple[str, int], list[str]]:
        codes: dict[tuple[str, int], list[str]] = {}
        for file in json.loads(self.report)["files"]:
            name = file["path"].rpartition(f"{self.original.name}/")[2]
            for finding in file["findings"]:
                if finding["level"] in ("manual", "note"):
                    codes.setdefault((name, finding["line"]), []).append(finding["code"])
        return codes


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def code(text: str) -> str:
    """Returns text as code in a cell."""
    text = " ".join(text.split()).replace("|", "&#124;")
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def row(comparison: Comparison, site: Site) -> list[str]:
    """Returns a site's cells: place, before, by hand, by porter, verdict."""
    places = comparison.places(site)
    first = places[0]
    left = "left" if site.before in comparison.text_by_hand(site.path) else "taken out"
    by_porter = code(first.ported) if first.is_changed else "left"
    if not first.is_changed and first.codes:
        by_porter = f"left, reported ({', '.join(sorted(set(first.codes)))})"
    lines = ", ".join(str(place.line) for place in places)
    return [
        f"{site.path}:{lines}",
        code(first.text),
        ", ".join(map(code, site.by_hand)) or left,
        by_porter,
        f"**{site.verdict}**" + (f": {site.why}" if site.why else ""),
    ]


def sites_table(comparison: Comparison, sites: Sequence[Site], version: str) -> str:
    """Returns the table of all sites."""
    header = ["place", version, "by hand", "by porter", "verdict"]
    return table(header, [row(comparison, site) for site in sites])


def tally(comparison: Comparison, sites: Sequence[Site]) -> str:
    """Returns how many places have which verdict."""
    counts = Counter[str]()
    for site in sites:
        counts[site.verdict] += len(comparison.places(site))
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS)


def ported_lines(before: Sequence[str], after: Sequence[str]) -> dict[int, str]:
    """Returns, of each line's number, what became of it; lines that changed number share a text."""
    ported = dict(enumerate(before, start=1))
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for kind, start, end, new_start, new_end in matcher.get_opcodes():
        if kind == "replace" and end - start == new_end - new_start:
            ported |= dict(enumerate(after[new_start:new_end], start=start + 1))
        elif kind in ("replace", "delete"):
            whole = "\n".join(after[new_start:new_end])
            ported |= dict.fromkeys(range(start + 1, end + 1), whole)
    return ported
