from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from porter.write import WriteError, digest, replace

NOBODY = 65534


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    return path


def only(file: Path) -> bool:
    """Whether nothing is left beside the file."""
    return list(file.parent.iterdir()) == [file]


@contextlib.contextmanager
def ordinary_user() -> Iterator[None]:
    """Give up root's right to pass over permissions, where the tests run with it."""
    if os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600, 0o4755, 0o777])
def test_replaces_content_and_keeps_the_mode(file: Path, mode: int) -> None:
    file.chmod(mode)
    replace(file, b"new", read=digest(b"old"))
    assert file.read_bytes() == b"new"
    assert file.stat().st_mode & 0o7777 == mode
    assert only(file)


def test_keeps_extended_attributes(file: Path) -> None:
    try:
        os.setxattr(file, "user.origin", b"here")
    except OSError:
        pytest.skip("the file system has no extended attributes")
    replace(file, b"new", read=digest(b"old"))
    assert os.getxattr(file, "user.origin") == b"here"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_keeps_the_owner(file: Path) -> None:
    os.chown(file, NOBODY, NOBODY)
    replace(file, b"new", read=digest(b"old"))
    assert (file.stat().st_uid, file.stat().st_gid) == (NOBODY, NOBODY)


def test_refuses_a_file_that_was_changed_since(file: Path) -> None:
    with pytest.raises(WriteError, match="changed by someone else"):
        replace(file, b"new", read=digest(b"older"))
    assert file.read_bytes() == b"old"
    assert only(file)


def test_refuses_a_file_that_is_changed_at_the_last_moment(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: file.write_bytes(b"other"))
    with pytest.raises(WriteError, match="changed by someone else"):
        replace(file, b"new", read=digest(b"old"))
    assert file.read_bytes() == b"other"
    assert only(file)


def test_refuses_a_file_that_was_removed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: file.unlink())
    with pytest.raises(WriteError, match="removed"):
        replace(file, b"new", read=digest(b"old"))
    assert list(file.parent.iterdir()) == []


def test_refuses_a_read_only_file(file: Path) -> None:
    file.chmod(0o444)
    with pytest.raises(WriteError, match="read-only"):
        replace(file, b"new", read=digest(b"old"))
    assert file.read_bytes() == b"old"
    assert only(file)


def test_refuses_a_read_only_folder() -> None:
    with tempfile.TemporaryDirectory() as folder:  # others may not pass pytest's own
        file = Path(folder, "a.py")
        file.write_bytes(b"old")
        file.chmod(0o666)
        file.parent.chmod(0o555)
        with ordinary_user(), pytest.raises(WriteError, match="Permission denied"):
            replace(file, b"new", read=digest(b"old"))
        file.parent.chmod(0o755)
        assert file.read_bytes() == b"old"
        assert only(file)


@pytest.mark.parametrize("step", ["fsync", "fchmod"])
def test_a_full_disk_leaves_the_old_file(
    file: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(WriteError, match="No space left on device"):
        replace(file, b"new", read=digest(b"old"))
    assert file.read_bytes() == b"old"
    assert only(file)
