"""The files that porter reads below a folder: from git where it can tell, else from a walk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from porter import git, kinds
from porter.walk import walk


@dataclass
class Listing:
    """What is below one folder.

    Attributes:
        top: the folder, as the user calls it.
        real: the same, absolute and without links.
        root: the folder of its repository; without one, what paths in diffs are relative to.
        in_git: whether git listed the files.
        names: files of a kind that porter reads, and links, below `top`, relative to it, with
            forward slashes.
        repositories: those inside a repository, which are not looked into; likewise relative.
        unreadable: folders that can't be listed.
        refusal: why git can't tell about the repository, where there is one.
    """

    top: Path
    real: Path
    root: Path
    in_git: bool
    names: list[str] = field(default_factory=list)
    repositories: list[str] = field(default_factory=list)
    unreadable: list[OSError] = field(default_factory=list)
    refusal: str = ""


def base_without_git(folder: Path) -> Path:
    """Return what paths in diffs are relative to for a folder (a real path) in no repository."""
    here = Path(os.path.realpath("."))
    return here if folder.is_relative_to(here) else folder


def listings(top: Path) -> Iterator[Listing]:
    """List a folder.

    In a repository there is one listing: of the tracked files and of the untracked ones that
    are not ignored. Elsewhere all files are listed, but not what is generated, installed or
    downloaded, and each repository further down has a listing of its own.
    """
    real = Path(os.path.realpath(top))
    root = git.find_root(real)
    refusal = ""
    if root is not None:
        listing = Listing(top, real, root, in_git=True)
        try:
            if _ask_git(listing):
                yield listing
                return
        except git.GitError as error:
            refusal = f"{top}: {error}"
    listing = Listing(top, real, base_without_git(real), in_git=False, refusal=refusal)
    nested: list[Path] = []
    listing.names += walk(top, nested.append, listing.unreadable.append)
    yield listing
    for folder in nested:
        yield from listings(folder)


def _ask_git(listing: Listing) -> bool:
    """Fill the listing; return whether git keeps track of the folder at all."""
    folder = listing.real
    tracked, untracked = git.tracked(folder), git.untracked(folder)
    if not tracked and not untracked and folder != listing.root:
        return folder.name not in git.ignored(folder.parent, [folder.name])
    for mode, name in tracked:
        if mode == git.SUBMODULE:
            listing.repositories.append(name)
        elif mode == git.LINK or kinds.of(name):
            listing.names.append(name)
    for name in untracked:
        if name.endswith("/"):
            listing.repositories.append(name.rstrip("/"))
        elif kinds.of(name):
            listing.names.append(name)
    return True
