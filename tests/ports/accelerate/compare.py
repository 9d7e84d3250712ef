"""Writes docs/accelerate.md: porter's port of Accelerate beside the one that was made by hand.

`python -m tests.ports.accelerate.compare ORIGINAL BY_HAND > docs/accelerate.md` writes the page
anew; the folders are the unpacked wheels of accelerate 0.20.3 and 0.21.0.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.ports.accelerate.runs import HERE, ROOT, ported
from tests.ports.accelerate.sites import SITES
from tests.ports.command import porter
from tests.ports.comparison import Comparison, sites_table, tally

PAGE = ROOT / "docs" / "accelerate.md"


def compare(original: Path, by_hand: Path, port: Path) -> Comparison:
    """Compares the trees in three folders of unpacked wheels."""
    said = porter("rewrite", "--dry-run", "--format=json", str(original / "accelerate"))
    assert said.returncode == 0, said.stderr
    before, hand_made, ours = (folder / "accelerate" for folder in (original, by_hand, port))
    return Comparison(before, hand_made, ours, said.stdout)


def page(comparison: Comparison) -> str:
    """Returns docs/accelerate.md."""
    return (
        (HERE / "preface.md")
        .read_text()
        .format(
            tally=tally(comparison, SITES),
            sites=sites_table(comparison, SITES, "Accelerate 0.20.3"),
        )
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        original, by_hand = map(Path, sys.argv[1:])
        port = ported(original, Path(scratch) / "port")
        sys.stdout.write(page(compare(original, by_hand, port.folder)))
