"""What must hold for every file that porter touches, checked from the outside.

Run over folders of real projects: `python tests/corpus/invariants.py FOLDER...` prints a line per
project and every violation, and ends with 1 if there is one.
"""

from __future__ import annotations

import ast
import difflib
import io
import re
import sys
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / p) for p in (".", "rules", "runtime")]

from porter.engine import rewrite_source  # noqa: E402
from porter.model import Level, Rewrite  # noqa: E402

SHIM_IMPORT = re.compile(rb"import porter_runtime\b|from porter_runtime import ")


def violations(before: bytes, result: Rewrite) -> Iterator[str]:
    """Yield what is wrong with the port of one file."""
    if result.failed:
        if result.output != before:
            yield "a file with an error was changed"
        if any("fault is porter's" in f.message for f in result.findings):
            yield f"a guard stopped the port: {result.findings[-1].message}"
        return
    rewritten = [f for f in result.findings if f.level is Level.REWRITTEN]
    if not rewritten and result.output != before:
        yield "changed without a finding that says so"
    if rewritten and result.output == before:
        yield "a finding says rewritten, and nothing changed"
    if result.output == before:
        return
    again = rewrite_source(result.output)
    if again.output != result.output:
        yield "a second run changes it again"
    if not _parses(result.output):
        yield "the result does not parse"
        return
    if _comments(before) != _comments(result.output):
        yield "comments differ"
    explained = {line for f in rewritten for line in range(f.first_line, f.end_line + 1)}
    for line, text in _changed_lines(before, result.output):
        if line not in explained:
            yield f"line {line} changed without a finding: {text!r}"


def _parses(data: bytes) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(data)
        except (SyntaxError, ValueError):
            return False
    return True


def _comments(data: bytes) -> Counter[str]:
    tokens = tokenize.tokenize(io.BytesIO(data).readline)
    return Counter(t.string for t in tokens if t.type == tokenize.COMMENT)


def _changed_lines(before: bytes, after: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield old lines (number from 1, text) that changed, less the added imports of the shim."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            continue
        if tag == "insert" and all(SHIM_IMPORT.search(line) for line in new[c:d]):
            continue
        for at in range(a, max(b, a + 1)):
            line = old[at] if at < len(old) else b""
            kept = [re.sub(rb"(; )?import porter_runtime as \w+(; )?", b"", n) for n in new[c:d]]
            if line not in kept:
                yield at + 1, line


def python_files(folder: Path) -> list[Path]:
    """Return the Python files below a folder, in a fixed order."""
    return sorted(p for p in folder.rglob("*.py") if p.is_file())


def check_folder(folder: Path) -> tuple[Counter[str], list[str]]:
    """Port every file of a folder in memory; return counts and violations."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for path in python_files(folder):
        before = path.read_bytes()
        result = rewrite_source(before)
        counts["files"] += 1
        counts["changed"] += result.output != before
        counts["errors"] += result.failed
        counts.update(f.level.value for f in result.findings)
        wrong += [f"{path}: {v}" for v in violations(before, result)]
    return counts, wrong


def main(folders: list[str]) -> int:
    """Check each project below the folders and print what was found."""
    total: list[str] = []
    for folder in map(Path, folders):
        counts, wrong = check_folder(folder)
        figures = ", ".join(f"{n} {name}" for name, n in counts.items() if n)
        print(f"{folder.name}: {figures}, {len(wrong)} violations", flush=True)
        total += wrong
    print(*total, sep="\n")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
