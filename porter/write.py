"""Replacing a file's content, whole or not at all."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path


class WriteError(Exception):
    """The file is as it was; the text says why."""


def digest(data: bytes) -> bytes:
    """Return what `replace` wants to know of the bytes that a file held when it was read."""
    import hashlib  # not before: it loads OpenSSL, and most runs write nothing

    return hashlib.blake2b(data).digest()


def replace(path: Path, data: bytes, *, read: bytes) -> None:
    """Give the file the content `data`, in one step: readers see the old bytes or the new.

    Mode, owner and extended attributes are kept as far as the user may set them. A file with
    several hard links is parted from the others.

    Args:
        path: a regular file, not a link.
        data: the new content.
        read: the `digest` of the content that `data` was made from.

    Raises:
        WriteError: the file is read-only, is no longer what was read, or can't be written; no
            temporary file is left.
    """
    try:
        before = os.lstat(path)
        if not before.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
            raise WriteError("is read-only; make it writable and run again")
        _replace(path, data, before, read)
    except OSError as error:
        raise WriteError(f"cannot be written: {error.strerror or error}") from error


def _replace(path: Path, data: bytes, before: os.stat_result, read: bytes) -> None:
    import tempfile

    descriptor, temporary = tempfile.mkstemp(prefix=".porter-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            _copy_attributes(path, before, descriptor)
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        _check_unchanged(path, before, read)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink()
        raise


def _copy_attributes(path: Path, before: os.stat_result, descriptor: int) -> None:
    if hasattr(os, "fchown"):
        own = os.fstat(descriptor)
        if (own.st_uid, own.st_gid) != (before.st_uid, before.st_gid):
            with contextlib.suppress(PermissionError):
                os.fchown(descriptor, before.st_uid, before.st_gid)
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):  # a file system without them
            for name in os.listxattr(path):
                with contextlib.suppress(OSError):
                    os.setxattr(descriptor, name, os.getxattr(path, name))
    if hasattr(os, "fchmod"):  # last: a change of owner drops the set-uid bits
        os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


def _check_unchanged(path: Path, before: os.stat_result, read: bytes) -> None:
    try:
        now = os.lstat(path)
        same = digest(path.read_bytes()) == read
    except FileNotFoundError:
        raise WriteError("was removed while porter worked on it") from None
    if not same or (now.st_mode, now.st_ino) != (before.st_mode, before.st_ino):
        raise WriteError("was changed by someone else while porter worked on it; run again")


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """Let Ctrl-C, and the signals that end a program, wait until the block is done."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    held = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, held)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)
