from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from porter.exclude import Excluder, Exclusion, PatternError

PATHS = [
    "a.py",
    "b.py",
    "build/a.py",
    "docs/build/a.py",
    "docs/a.py",
    "docs/deep/er/a.py",
    "tests/test_a.py",
    "src/tests/a.py",
    "src/[x].py",
    "src/a b.py",
    "src/!odd.py",
    "src/-dash.py",
    "src/né.py",
    "src/new\nline.py",
    ".hidden/a.py",
]

PATTERNS = [
    ["a.py"],
    ["/a.py"],
    ["*.py"],
    ["build"],
    ["build/"],
    ["/build/"],
    ["docs/*.py"],
    ["docs/**"],
    ["docs/**/a.py"],
    ["**/build"],
    ["**"],
    ["d*/**/e?"],
    ["tests/", "!tests/test_a.py"],
    ["*.py", "!a.py"],
    ["src/*", "!src/a b.py"],
    ["[ab].py"],
    ["[!a].py"],
    ["[^a].py"],
    ["[a-c].py"],
    ["src/[[]x].py"],
    ["src/\\[x\\].py"],
    ["src/[]!-]*.py"],
    ["[-a]*.py"],
    ["src/[!-]*.py"],
    ["\\!odd.py"],
    ["a b.py"],
    ["?.py"],
    ["src?tests"],
    ["src/*tests"],
    ["a.py   "],
    ["a.p"],
    ["/"],
    [""],
    ["né.py"],
    [".*"],
    ["***.py"],
    ["docs**a.py"],
]


@pytest.mark.parametrize("patterns", PATTERNS, ids=repr)
def test_means_what_gitignore_means(patterns: list[str], tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / ".git/info/exclude").write_text("".join(f"{p}\n" for p in patterns), "utf-8")
    for path in PATHS:  # git asks the disk which of them are folders
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    answer = subprocess.run(
        ["git", "check-ignore", "--no-index", "-z", "--stdin"],
        cwd=tmp_path,
        input="".join(f"{path}\0" for path in PATHS).encode(),
        capture_output=True,
        check=False,
    )
    ignored = set(answer.stdout.decode().split("\0")[:-1])
    excluder = Excluder(patterns)
    assert {path for path in PATHS if excluder.excludes(path)} == ignored


@pytest.mark.parametrize("pattern", ["[a", "a[!", "[z-a].py", "[[:alpha:]]", "a\\"])
def test_refuses_what_it_cannot_read(pattern: str) -> None:
    with pytest.raises(PatternError) as refused:
        Excluder([pattern])
    assert repr(pattern) in str(refused.value)


def test_patterns_hold_outside_their_folder_from_where_the_search_began() -> None:
    exclusion = Exclusion(Path("/project"), Excluder(["tests/", "/gen.py"]))
    assert exclusion.excludes(Path("/project/tests/a.py"), Path("/project"))
    assert exclusion.excludes(Path("/project/gen.py"), Path("/project/src"))
    assert not exclusion.excludes(Path("/project/src/gen.py"), Path("/project/src"))
    assert exclusion.excludes(Path("/other/gen.py"), Path("/other"))
    assert exclusion.excludes(Path("/other/tests/a.py"), Path("/other"))
    assert not exclusion.excludes(Path("/other/src/gen.py"), Path("/other"))
