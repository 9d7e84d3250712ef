"""Does porter speak of every place that hard-codes CUDA? Counted by other means than its own.

Run over folders of real projects: `python tests/corpus/unseen.py FOLDER...` prints a row per
project (rewritten, manual, noted, explained, unseen), and every unseen site, and ends with 1 if
there is one.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), *(str(HERE.parents[1] / p) for p in (".", "rules", "runtime"))]

from invariants import python_files  # noqa: E402
from sites import Found, Position, Site, count  # noqa: E402
from unseen_exceptions import explained  # noqa: E402

from porter.engine import rewrite_source  # noqa: E402
from porter.model import Finding, Level  # noqa: E402

COLUMNS = ("files", "sites", "rewritten", "manual", "note", "explained", "unseen", "mentions")
WORDS = (b"cuda", b"CUDA", b"nccl", b"NCCL", b"torch", b"flash_attention", b"_8bit", b"paged_")


def outcome(site: Site, found: Found, findings: Sequence[Finding]) -> Level | None:
    """Return what porter said about a site, None where it said nothing.

    A name that is imported from torch.cuda is spoken of at its import: the use needs no edit.
    """
    spoken = [f for f in findings if _touches(f, site, found)]
    if not spoken and site.bound_at is not None:
        line, column = site.bound_at
        spoken = [f for f in findings if (f.line, f.column - 1) == (line, column)]
    return min(spoken, key=_extent).level if spoken else None


def _extent(finding: Finding) -> Position:
    """Return how much a finding spans: of several about a place the closest one counts."""
    return finding.end_line - finding.line, finding.end_column - finding.column


def _touches(finding: Finding, site: Site, found: Found) -> bool:
    """Whether a finding is about the site's text.

    A finding about a chain points at its last name; what is left is left from the chain's start.
    """
    start = (finding.line, finding.column - 1)
    end = (finding.end_line, finding.end_column - 1)
    if finding.level is Level.MANUAL:
        start = found.chains.get((start, end), start)
    return start < site.end and site.start < end


def count_folder(folder: Path) -> tuple[Counter[str], Counter[tuple[str, str]], list[str]]:
    """Count a project's sites by what became of them; return what is unseen as text, too.

    The second counter tells kind and outcome of each site.
    """
    counts: Counter[str] = Counter()
    kinds: Counter[tuple[str, str]] = Counter()
    unseen: list[str] = []
    for path in python_files(folder):
        data = path.read_bytes()
        if not any(word in data for word in WORDS):
            continue
        result = rewrite_source(data)
        try:
            text = data.decode("utf-8-sig")
            found = count(text)
        except (SyntaxError, ValueError):
            continue  # what can't be parsed is an error of the file, and reported as one
        lines = text.split("\n")
        counts["files"] += 1
        counts["mentions"] += found.mentions
        for site in found.sites:
            counts["sites"] += 1
            level = None if result.failed else outcome(site, found, result.findings)
            line = lines[site.start[0] - 1].strip()
            where = f"{path.relative_to(folder)}:{site.start[0]}"
            key = level.value if level is not None else "unseen"
            if level is None and explained(site.kind, line):
                key = "explained"
            counts[key] += 1
            kinds[site.kind, key] += 1
            if key == "unseen":
                unseen.append(f"{where}:{site.start[1] + 1}: {site.kind}: {line}")
    return counts, kinds, unseen


def main(folders: list[str]) -> int:
    """Count each project, and print the table and what is unseen."""
    rows: dict[str, Counter[str]] = {}
    kinds: Counter[tuple[str, str]] = Counter()
    unseen: list[str] = []
    for folder in map(Path, folders):
        rows[folder.name], by_kind, lines = count_folder(folder)
        kinds += by_kind
        unseen += [f"{folder.name}/{line}" for line in lines]
    rows["all"] = sum(rows.values(), Counter())
    print(_table("project", rows, COLUMNS))
    by_kind_of = {
        kind: Counter({key: n for (k, key), n in kinds.items() if k == kind})
        for kind in sorted({kind for kind, _ in kinds})
    }
    print(_table("kind", by_kind_of, COLUMNS[2:-1]))
    print(*unseen, sep="\n")
    return 1 if unseen else 0


def _table(what: str, rows: dict[str, Counter[str]], columns: Sequence[str]) -> str:
    lines = [f"| {what} | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for name, counts in rows.items():
        lines.append(f"| {name} | {' | '.join(str(counts[c]) for c in columns)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
