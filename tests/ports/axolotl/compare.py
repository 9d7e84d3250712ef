"""Compares porter's port of axolotl with the one that was made by hand, place by place.

`python -m tests.ports.axolotl.compare FOLDER > docs/axolotl.md` writes the page anew; FOLDER is
for the port and must not be there.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.ports.axolotl import environment
from tests.ports.axolotl.environment import HERE, ROOT
from tests.ports.axolotl.porting import ported
from tests.ports.axolotl.sites import OPTIONS, SITES, Option, Site
from tests.ports.command import porter
from tests.ports.comparison import ported_lines

BY_HAND = "axolotl==0.6.0"
PAGE = ROOT / "docs" / "axolotl.md"
PREFACE = (HERE / "preface.md").read_text()


@dataclass(frozen=True)
class Finding:
    """What porter says of a line; without `is_manual` it is a note."""

    code: str
    message: str
    is_manual: bool


@dataclass(frozen=True)
class Place:
    """A line of a site, with what became of it.

    Attributes:
        line: its number in the original, from 1.
        text: the original line.
        ported: the line in the port, or the lines.
        findings: what porter says of it.
    """

    line: int
    text: str
    ported: str
    findings: list[Finding]

    @property
    def is_changed(self) -> bool:
        return self.text != self.ported


@dataclass(frozen=True)
class Comparison:
    """axolotl before, as ported by hand, and as ported by porter: folders that hold `src`."""

    original: Path
    by_hand: Path
    port: Path

    def places(self, site: Site) -> list[Place]:
        """Returns the lines that a site stands for."""
        path = self.original / "src" / "axolotl" / site.path
        before = path.read_text().splitlines()
        after = self._ported(site.path)
        return [
            Place(number, text, after[number], self._findings.get((site.path, number), []))
            for number, text in enumerate(before, start=1)
            if site.before in text
        ]

    def changed(self) -> Iterator[tuple[str, int, str]]:
        """Yields each line of code that porter changed, but for imports: file, number and text."""
        for path in sorted((self.original / "src" / "axolotl").rglob("*.py")):
            name = path.relative_to(self.original / "src" / "axolotl").as_posix()
            after = self._ported(name)
            for number, text in enumerate(path.read_text().splitlines(), start=1):
                if after[number] != text and not text.startswith(("import ", "from ")):
                    yield name, number, text

    def taken_out_by_hand(self) -> Iterator[tuple[str, int, str]]:
        """Yields each line that names CUDA and isn't in the hand-made port any more."""
        for path in sorted((self.original / "src" / "axolotl").rglob("*.py")):
            name = path.relative_to(self.original / "src" / "axolotl").as_posix()
            rest = self.text_by_hand(name)
            for number, text in enumerate(path.read_text().splitlines(), start=1):
                names_cuda = "torch.cuda" in text or '"cuda' in text
                if names_cuda and not text.lstrip().startswith("#") and text not in rest:
                    yield name, number, text

    def text_by_hand(self, path: str) -> str:
        """Returns a file of the hand-made port."""
        return (self.by_hand / "src" / "axolotl" / path).read_text()

    def packages_reported(self) -> list[str]:
        """Returns the names of CUDA's packages that stop the program, beside those in the table."""
        here = {(site.path, place.line) for site in SITES for place in self.places(site)}
        return [
            found.message.partition(" ")[0]
            for place, findings in self._findings.items()
            for found in findings
            if found.code == "PTR701" and found.is_manual and place not in here
        ]

    def _ported(self, path: str) -> dict[int, str]:
        before = (self.original / "src" / "axolotl" / path).read_text().splitlines()
        after = (self.port / "src" / "axolotl" / path).read_text().splitlines()
        return ported_lines(before, after)

    @cached_property
    def _findings(self) -> dict[tuple[str, int], list[Finding]]:
        folder = self.original / "src" / "axolotl"
        done = porter("rewrite", "--dry-run", "--format", "json", str(folder))
        findings: dict[tuple[str, int], list[Finding]] = {}
        for file in json.loads(done.stdout)["files"]:
            path = Path(file["path"]).relative_to(folder).as_posix()
            for found in file["findings"]:
                if (level := found["level"]) in ("manual", "note"):
                    said = Finding(found["code"], found["message"], level == "manual")
                    findings.setdefault((path, found["line"]), []).append(said)
        return findings


def told(option: Option) -> list[Finding]:
    """Returns what `porter check` says of a configuration with an option."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "lora.yml"
        config.write_text(f"base_model: model\n{option.line}\n")
        done = porter("check", "--all", "--format", "json", str(config))
    files = json.loads(done.stdout)["files"]
    return [
        Finding(found["code"], found["message"], found["level"] == "manual")
        for file in files
        for found in file["findings"]
    ]


def table(header: list[str], rows: list[list[str]]) -> str:
    """Returns a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def code(text: str) -> str:
    """Returns text as code in a cell."""
    return f"`{' '.join(text.split()).replace('|', '&#124;')}`" if text else "left"


def row(site: Site, places: list[Place]) -> list[str]:
    """Returns a site's cells."""
    lines = ", ".join(str(place.line) for place in places)
    first = places[0]
    by_porter = code(first.ported) if first.is_changed else "left"
    if not first.is_changed and first.findings:
        codes = ", ".join(sorted({found.code for found in first.findings}))
        by_porter = f"left, reported ({codes})"
    verdict = f"**{site.verdict}**" + (f": {site.why}" if site.why else "")
    where = f"{site.path}:{lines}"
    return [where, code(first.text), code(site.by_hand), by_porter, verdict]


def page(comparison: Comparison) -> str:
    """Returns docs/axolotl.md."""
    places = {site: comparison.places(site) for site in SITES}
    counts = Counter[str]()
    for site, lines in places.items():
        counts[site.verdict] += len(lines)
    tally = ", ".join(f"{counts[verdict]} {verdict}" for verdict in ("same", "better", "reported"))
    sites = table(
        ["place", "axolotl 0.5.2", "by hand", "by porter", "verdict"],
        [row(site, lines) for site, lines in places.items()],
    )
    options = table(
        ["in a configuration", "by hand", "by porter"],
        [
            [
                f"`{option.line}`",
                "refused when a command reads it" if option.by_hand else "not noticed",
                "; ".join(f"{found.code}: {found.message}" for found in told(option)),
            ]
            for option in OPTIONS
        ],
    )
    packages = comparison.packages_reported()
    return PREFACE.format(
        tally=f"{tally}, {counts['missed']} missed",
        sites=sites,
        options=options,
        imports=len(packages),
        packages=", ".join(sorted(set(packages))),
    )


def compare(folder: Path) -> Comparison:
    """Fetches both versions and makes the port in a folder."""
    original = environment.source()
    return Comparison(original, environment.source(BY_HAND), ported(original, folder))


if __name__ == "__main__":
    sys.stdout.write(page(compare(Path(sys.argv[1]))))
