from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from porter.diff import quoted, unified
from tests.cli.harness import Repository

CONTENTS = {
    "lines": (b"a\nb\nc\n", b"a\nB\nc\n"),
    "far apart": (b"x\n" + b"\n" * 40 + b"y\n", b"X\n" + b"\n" * 40 + b"Y\n"),
    "near": (b"a\nb\nc\nd\ne\n", b"A\nb\nc\nd\nE\n"),
    "no final newline": (b"a\nb", b"a\nB"),
    "final newline added": (b"a\nb", b"a\nb\n"),
    "final newline removed": (b"a\nb\n", b"a\nb"),
    "line added at the end": (b"a", b"a\nb"),
    "first line": (b"a\n", b"new\na\n"),
    "only line": (b"a\n", b"b\n"),
    "CRLF": (b"a\r\nb\r\n", b"a\r\nB\r\n"),
    "mixed newlines": (b"a\r\nb\nc\rd\n", b"a\r\nB\nc\rD\n"),
    "CR only": (b"a\rb\rc\r", b"a\rB\rc\r"),
    "BOM": (b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfb\n"),
    "latin-1": (b"# \xe9\na\n", b"# \xe9\nb\n"),
    "form feed": (b"a\n\x0cb\n", b"a\n\x0cc\n"),
    "looks like a diff": (b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n", b"--- a/x\n+++ b/y\n@@ -1 +1 @@\n"),
    "trailing blanks": (b"a  \nb\n", b"a  \nB \n"),
    "emptied": (b"a\n", b""),
    "filled": (b"", b"a\n"),
    "a method among its likes": (
        b"".join(
            b"    def m%d(self):\n        v = v.cuda()\n        return v\n\n" % n for n in range(99)
        ),
        b"".join(
            b"    def m%d(self):\n        v = v.%s\n        return v\n\n"
            % (n, b"to(d)" if n == 50 else b"cuda()")
            for n in range(99)
        ),
    ),
    "many equal lines": (b"same\n" * 900 + b"a\n" + b"same\n" * 900, b"same\n" * 1800 + b"b\n"),
}
NAMES = [
    "plain.py",
    "sub/deep/a.py",
    "with blank.py",
    "trailing blank .py",
    'quote".py',
    "back\\slash.py",
    "tab\t.py",
    "new\nline.py",
    "b.py b/b.py",
    "é and blank.py",
    "raw \udcff.py",
    "bell\x07\x1f\x7f.py",
    "-dash.py",
]


def apply(repository: Repository, patch: bytes) -> None:
    subprocess.run(["git", "apply"], input=patch, cwd=repository.path, check=True)


@pytest.mark.parametrize("kind", CONTENTS)
def test_git_applies_it_to_the_byte(kind: str, repository: Repository) -> None:
    before, after = CONTENTS[kind]
    file = repository.write("a.py", before)
    apply(repository, unified(b"a.py", before, after))
    assert file.read_bytes() == after


@pytest.mark.parametrize("name", NAMES)
def test_git_finds_the_file_by_its_name(name: str, repository: Repository) -> None:
    file = repository.write(name, b"a\n")
    file.chmod(0o755)
    apply(repository, unified(os.fsencode(name), b"a\n", b"b\n"))
    assert file.read_bytes() == b"b\n"
    assert file.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("name", NAMES)
def test_names_are_written_as_git_writes_them(name: str, repository: Repository) -> None:
    file = repository.write(name, b"a\n")
    repository.commit()
    file.write_bytes(b"b\n")
    lines = repository.git("diff", "--no-color").splitlines(keepends=True)
    ours = unified(os.fsencode(name), b"a\n", b"b\n").splitlines(keepends=True)
    assert ours == [lines[0], *lines[2:]]  # without git's line of object names


@pytest.mark.parametrize("kind", CONTENTS)
def test_it_is_as_short_as_gits(kind: str, repository: Repository) -> None:
    before, after = CONTENTS[kind]
    file = repository.write("a.py", before)
    repository.commit()
    file.write_bytes(after)
    theirs = repository.git("diff", "--no-color", "--minimal").count(b"\n") - 1
    assert unified(b"a.py", before, after).count(b"\n") <= theirs


def test_it_is_gits_own_where_there_is_one_way_to_tell_it(repository: Repository) -> None:
    lines = [b"import x\n", b"\n", b"def f_%d():\n" % 1, *(b"    y%d()\n" % n for n in range(60))]
    lines[20] = b"async def " + b"long_" * 30 + b"():   \n"
    file = repository.write("a.py", b"".join(lines))
    repository.commit()
    before = file.read_bytes()
    lines[10], lines[40], lines[62] = b"    one()\n", b"    two()\r\n", b"    end()"
    file.write_bytes(b"".join(lines))
    theirs = repository.git("diff", "--no-color").splitlines(keepends=True)
    assert unified(b"a.py", before, file.read_bytes()) == b"".join([theirs[0], *theirs[2:]])


def test_no_change_is_no_diff() -> None:
    assert unified(b"a.py", b"a\n", b"a\n") == b""


def test_plain_names_are_not_quoted() -> None:
    assert quoted(b"a/plain name.py") == b"a/plain name.py"


LINES = st.lists(st.sampled_from([b"a", b"b", b"", b"c\r", b"\xff", b"d\re"]), max_size=30)


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(before=LINES, after=LINES)
def test_any_two_contents(before: list[bytes], after: list[bytes], repository: Repository) -> None:
    old, new = b"\n".join(before), b"\n".join(after)
    file = repository.write("a.py", old)
    patch = unified(b"a.py", old, new)
    if patch:
        apply(repository, patch)
    left = file.read_bytes() if file.exists() else b""  # git removes a file that ends up empty
    assert left == new
