"""Draws findings from real projects to be judged by eye, and prints them as a table.

    python tests/check/sample.py FOLDER [--number 200] [--context]

FOLDER holds projects, unpacked, each in a folder of its own. Whoever judges reads each site in its
file and fills in the columns `verdict` ("right", or "false" where nothing had to be said) and
`note`; what is judged already in data/sample.csv is taken over. Each finding draws its own lot, so
that the sample stays the same as far as the findings do.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / p) for p in (".", "rules", "runtime")]

from porter.engine import may_have_sites, rewrite_source  # noqa: E402
from porter.model import Finding, Level  # noqa: E402

TABLE = Path(__file__).parent / "data" / "sample.csv"
COLUMNS = ("project", "file", "line", "code", "level", "source", "verdict", "note")
SEED = 20261130


@dataclass(frozen=True)
class Drawn:
    """A finding in a project's file."""

    project: str
    file: str
    finding: Finding

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What a row of the table is known by."""
        return self.project, self.file, str(self.finding.line), self.finding.code


def findings(folder: Path) -> Iterator[Drawn]:
    """Yield what `porter check --all` would report of the projects in a folder, in order."""
    for project in sorted(p for p in folder.iterdir() if p.is_dir()):
        for path in sorted(project.rglob("*.py")):
            data = path.read_bytes()
            if may_have_sites(data):
                name = path.relative_to(project).as_posix()
                for finding in rewrite_source(data).findings:
                    if finding.level in (Level.REWRITTEN, Level.MANUAL):
                        yield Drawn(project.name, name, finding)


def lot(each: Drawn) -> bytes:
    """Return a finding's number in the draw, which doesn't depend on the other findings."""
    text = f"{SEED} {each.key} {each.finding.column}"
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()


def read_table() -> list[dict[str, str]]:
    """Return the rows that are judged."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def main() -> None:
    """Draw and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument("--context", action="store_true", help="print the sites for reading")
    options = parser.parse_args()
    drawn = sorted(findings(options.folder), key=lot)[: options.number]
    drawn.sort(key=lambda each: each.key)
    if options.context:
        for number, each in enumerate(drawn, 1):
            print_site(options.folder, number, each)
        return
    judged = {}
    if TABLE.exists():
        judged = {(r["project"], r["file"], r["line"], r["code"]): r for r in read_table()}
    writer = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for each in drawn:
        known = judged.get(each.key, {})
        cells = (*each.key, each.finding.level.value, each.finding.source.strip())
        row = dict(zip(COLUMNS, cells, strict=False))
        same = known.get("source") == row["source"] and known.get("level") == row["level"]
        for column in ("verdict", "note"):
            row[column] = known.get(column, "") if same else ""
        writer.writerow(row)


def print_site(folder: Path, number: int, each: Drawn) -> None:
    """Print a finding with the lines around it."""
    finding = each.finding
    print(f"\n=== {number} {each.project}/{each.file}:{finding.line} {finding.code}")
    print(f"{finding.level.value}: {finding.message} -> {finding.replacement}")
    lines = (folder / each.project / each.file).read_text("utf-8", "replace").splitlines()
    for at in range(max(finding.line - 4, 1), min(finding.end_line + 3, len(lines) + 1)):
        mark = ">" if finding.line <= at <= finding.end_line else " "
        print(f"{mark}{at:5} {lines[at - 1]}")


if __name__ == "__main__":
    main()
