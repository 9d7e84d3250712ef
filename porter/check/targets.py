"""What a check is about: which contents of which files, and which of their lines."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from porter import git, kinds
from porter.check import added
from porter.discover import Discovery, File, discover, is_excluded
from porter.errors import Refused
from porter.exclude import Exclusion

_BY_HAND = "--all judges whole files"


@dataclass(frozen=True)
class Target:
    """One file to judge.

    `path` names it to the user and opens it in the work tree; `root / name` is the same, absolute
    and without links. `data` is the content to judge, None where that is the work tree's; `lines`
    are the new ones, as git counts, None where all of the file is judged. `kind` is one of
    `porter.kinds`.
    """

    path: Path
    root: Path
    name: str
    data: bytes | None = None
    lines: tuple[range, ...] | None = None
    kind: str = kinds.PYTHON


@dataclass(frozen=True)
class Scope:
    """What is judged: `kind` is "all", "baseline", "staged" or "diff"."""

    kind: str
    targets: list[Target]
    found: Discovery


def everything(paths: Sequence[Path], exclusions: Sequence[Exclusion], kind: str) -> Scope:
    """Judge the files at and below the paths, whole.

    Raises:
        Refused: a path is a bare repository.
    """
    _roots(paths)
    found = discover(paths, exclusions, to_write=False)
    return Scope(kind, [_whole(f) for f in found.files], found)


def staged(
    paths: Sequence[Path], exclusions: Sequence[Exclusion], *, only_if_any: bool
) -> Scope | None:
    """Judge what the index adds, in the content that it holds.

    Args:
        paths: files and folders; what is not at or below one of them is not judged.
        exclusions: what to leave out.
        only_if_any: return None where nothing at all is staged.

    Raises:
        Refused: a path lies in no repository, or git can't tell.
    """
    roots = _roots(paths)
    if only_if_any and None in roots:
        return None
    targets: list[Target] = []
    any_staged = False
    for root, inside in roots.items():
        if root is None:
            raise Refused(f"{inside[0]} is in no git repository, so nothing is staged; {_BY_HAND}")
        with _explained(f"what is staged is unknown; {_BY_HAND}"):
            found = added.staged(root, _scripts(root, inside))
            any_staged |= bool(found) or git.has_staged_changes(root)
            mine = [a for a in found if _is_wanted(root, a.name, inside, exclusions)]
            contents = git.blobs(root, [a.blob for a in mine])
        for each, data in zip(mine, contents, strict=True):
            name = os.fsdecode(each.name)
            kind = kinds.of(name) or kinds.of_script(data)
            if kind and not kinds.is_data(kind, len(data)):
                path = Path(os.path.relpath(root / name))
                targets.append(Target(path, root, name, data, each.lines, kind))
    if only_if_any and not any_staged:
        return None
    return Scope("staged", sorted(targets, key=_by_path), Discovery())


def since(paths: Sequence[Path], exclusions: Sequence[Exclusion], revision: str) -> Scope:
    """Judge what the work tree adds to the commit where its branch left the revision's.

    Files that git doesn't track yet are new as a whole.

    Raises:
        Refused: a path lies in no repository, there is no such revision, or git can't tell.
    """
    found = discover(paths, exclusions, to_write=False)
    targets: list[Target] = []
    for root, inside in _roots(paths).items():
        if root is None:
            raise Refused(f"--diff-base: {inside[0]} is in no git repository; {_BY_HAND}")
        files = [file for file in found.files if file.root == root]
        with _explained("--diff-base: fetch it (actions/checkout: fetch-depth: 0), or mend it"):
            base = git.merge_base(root, revision)
            patched = added.since(root, base, _scripts(root, inside))
            new = set(git.untracked(root)) if files else set()
        lines = {os.fsdecode(each.name): each.lines for each in patched}
        for file in files:
            if file.name in new:
                targets.append(_whole(file))
            elif file.name in lines:
                targets.append(replace(_whole(file), lines=lines[file.name]))
    return Scope("diff", sorted(targets, key=_by_path), found)


def _roots(paths: Iterable[Path]) -> dict[Path | None, list[Path]]:
    """Return the paths, absolute and without links, by the repositories that they lie in."""
    roots: dict[Path | None, list[Path]] = {}
    for path in paths:
        real = Path(os.path.realpath(path))
        root = git.find_root(real if real.is_dir() else real.parent)
        if root is None and all((real / part).exists() for part in ("HEAD", "objects", "refs")):
            raise Refused(f"{path} is a bare git repository: there are no files in it to check")
        roots.setdefault(root, []).append(real)
    return roots


def _scripts(root: Path, paths: Iterable[Path]) -> list[str]:
    """Return what to ask git about beside the files whose names tell their kind."""
    names = [p.relative_to(root).as_posix() for p in paths if not p.suffix and not p.is_dir()]
    return [f":(literal){name}" for name in names if not kinds.of(name)]


def _is_wanted(
    root: Path, name: bytes, paths: Iterable[Path], exclusions: Sequence[Exclusion]
) -> bool:
    real = root / os.fsdecode(name)
    return any(real.is_relative_to(path) for path in paths) and not is_excluded(
        real, root, exclusions
    )


def _whole(file: File) -> Target:
    return Target(file.path, file.root, file.name, kind=file.kind)


@contextlib.contextmanager
def _explained(advice: str) -> Iterator[None]:
    """Let what git can't do end the command, and say what to do."""
    try:
        yield
    except git.GitError as error:
        raise Refused(f"{error}: {advice}") from error


def _by_path(target: Target) -> bytes:
    return os.fsencode(target.path)
