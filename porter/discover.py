"""Which files a run is about: paths from the command line become files of kinds."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from porter import git, kinds
from porter.exclude import Exclusion
from porter.listing import Listing, base_without_git, listings

_OWN = frozenset({"porter_runtime", "porter_rules"})
"""Packages of porter's own, by name: a shim that was copied by hand is to work too."""
_SELF = Path(os.path.realpath(__file__)).parent
_LINK = "a link to something outside the given paths; give that path to port it"
_REPOSITORY = "a repository of its own; give its path to port it"


@dataclass(frozen=True)
class File:
    """A file to look at.

    `path` opens it and names it to the user. `name` is its path relative to `root`, with forward
    slashes; `root` is the repository's folder where `in_git` says that git can bring the file
    back, and elsewhere what paths in a diff are to be relative to. `kind` is one of
    `porter.kinds`.
    """

    path: Path
    root: Path
    name: str
    in_git: bool
    kind: str = kinds.PYTHON


@dataclass(frozen=True)
class Skipped:
    """A path that was left alone, and why; `failed` where it should not have been."""

    path: str
    reason: str
    failed: bool = False


@dataclass
class Discovery:
    """The files below the given paths, sorted by path, and what is worth telling about the rest."""

    files: list[File] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    scopes: dict[Path, list[str]] = field(default_factory=dict)
    """The repositories that were listed: of each root, the given paths relative to it."""
    refusals: list[str] = field(default_factory=list)
    """The repositories that git can't tell about, and why; all their files are taken."""


def discover(
    paths: Sequence[Path], exclusions: Sequence[Exclusion] = (), *, to_write: bool = True
) -> Discovery:
    """Find the files at and below the paths that porter reads: code, and configuration.

    In a git work tree these are the tracked files and the untracked ones that are not ignored;
    elsewhere all but those in junk folders. A file that is a path of its own is taken whatever
    git says. What `exclusions` leave out is not taken either way, nor is porter itself. A link
    stands for the file that it leads to, which is taken once; a link out of the given paths is
    skipped.

    Args:
        paths: files and folders, all of which exist.
        exclusions: each holds for all paths.
        to_write: whether it matters if git can bring files back. Where it doesn't, git isn't
            asked about files that are paths of their own.
    """
    search = _Search(paths, exclusions)
    for path in paths:
        if path.is_dir():
            for listing in listings(path):
                search.add_listing(listing)
        else:
            search.add_file(path)
    search.follow_links()
    search.take_single_files(ask_git=to_write)
    found = search.found
    found.files.sort(key=lambda file: os.fsencode(file.path))
    found.skipped.sort(key=lambda skipped: os.fsencode(skipped.path))
    return found


@dataclass(frozen=True)
class _Folder:
    """A folder of a listing, by what is asked of it for each of its files.

    `real` and `name` end in a slash, unless they are empty: its real path, and that relative to
    the listing's root. `is_linked` tells that a link has taken its place, or that of a folder
    above it: git goes on to list its files.
    """

    real: str
    name: str
    is_own: bool
    is_linked: bool

    @classmethod
    def of(cls, listing: Listing, above: str) -> _Folder:
        """Look at the folder `above`, which is relative to that of the listing."""
        path = listing.real / above
        name = path.relative_to(listing.root).as_posix()
        return cls(
            f"{str(path).rstrip(os.sep)}{os.sep}",
            "" if name == "." else f"{name}/",
            _is_own(path),
            _real(path) != path,
        )


class _Search:
    """The state of one discovery. Paths called real are absolute and free of links."""

    def __init__(self, paths: Sequence[Path], exclusions: Sequence[Exclusion]) -> None:
        self.found = Discovery()
        self._exclusions = exclusions
        folders = [path if path.is_dir() else path.parent for path in paths]
        self._trees = {_real(folder): folder for folder in reversed(folders)}
        """Real folders that links may lead into, and what the user calls each."""
        self._taken: set[str] = set()
        """Real files, as text: a path takes longer to hash than to stat."""
        self._links: dict[Path, Path] = {}
        self._single: dict[Path, tuple[Path, str]] = {}
        """Of real files, what the user calls each, and its kind."""

    def add_listing(self, listing: Listing) -> None:
        """Take the files of a listing, and remember its links."""
        if listing.in_git:
            name = listing.real.relative_to(listing.root).as_posix()
            self.found.scopes.setdefault(listing.root, []).append(name)
        if listing.refusal:
            self.found.refusals.append(listing.refusal)
        for error in listing.unreadable:
            self._skip(Path(error.filename), f"cannot be read: {error.strerror}", failed=True)
        for name in listing.repositories:
            inside = listing.real / name / ".git"
            if _mode(inside) and not self._is_excluded(inside, listing.real):
                self._skip(listing.top / name, _REPOSITORY)
        folders: dict[str, _Folder] = {}
        for name in listing.names:
            above, _, own = name.rpartition("/")
            folder = folders.get(above)
            if folder is None:
                folder = folders[above] = _Folder.of(listing, above)
            if folder.is_own or (
                self._exclusions and self._is_excluded(listing.real / name, listing.real)
            ):
                continue
            mode = _mode(folder.real + own)
            if folder.is_linked or stat.S_ISLNK(mode):
                self._links[listing.top / name] = _real(folder.real + own)
            else:
                self._add_listed(listing, name, folder, own, mode)

    def add_file(self, path: Path) -> None:
        """Take a file that the user names, if it is of a kind that porter reads."""
        if path.is_symlink():
            self._links[path] = _real(path)
        else:
            self._add_single(path, _real(path), _real(path.parent))

    def follow_links(self) -> None:
        """Take the files that links lead to, where they are below the given paths."""
        for link, target in self._links.items():
            is_folder = stat.S_ISDIR(_mode(target))
            if not is_folder and not kinds.of(link.as_posix()):
                continue
            trees = [tree for tree in self._trees if target.is_relative_to(tree)]
            if not _mode(target):
                self._skip(link, "a link to nothing")
            elif not trees:
                self._skip(link, _LINK)
            elif not is_folder and str(target) not in self._taken:
                tree = max(trees, key=lambda tree: len(tree.parts))
                self._add_single(self._trees[tree] / target.relative_to(tree), target, tree)

    def take_single_files(self, *, ask_git: bool) -> None:
        """Take the files that are in no listing; git is asked about all of them at once."""
        by_root: dict[Path | None, list[Path]] = {}
        for real in sorted(real for real in self._single if str(real) not in self._taken):
            by_root.setdefault(git.find_root(real.parent), []).append(real)
        for root, reals in by_root.items():
            known = self._known_to_git(root, reals) if root and ask_git else set()
            for real in reals:
                base = root or base_without_git(real.parent)
                name = real.relative_to(base).as_posix()
                path, kind = self._single[real]
                self._take(File(path, base, name, name in known, kind), str(real))

    def _known_to_git(self, root: Path, reals: list[Path]) -> set[str]:
        names = [real.relative_to(root).as_posix() for real in reals]
        try:
            known = set(names) - git.ignored(root, names)
        except git.GitError as error:
            self.found.refusals.append(f"{root}: {error}")
            return set()
        self.found.scopes.setdefault(root, []).extend(names)
        return known

    def _add_listed(
        self, listing: Listing, name: str, folder: _Folder, own: str, mode: int
    ) -> None:
        if not mode:
            return  # tracked, and removed since
        if stat.S_ISREG(mode):
            real, inside = folder.real + own, folder.name + own
            kind = kinds.of(inside)
            if kind == kinds.PYTHON or not kinds.is_data(kind, _size(real)):
                self._take(
                    File(listing.top / name, listing.root, inside, listing.in_git, kind), real
                )
        else:
            self._skip(listing.top / name, "not a regular file")

    def _add_single(self, path: Path, real: Path, root: Path) -> None:
        if self._is_excluded(real, root):
            return
        kind = _kind(real)
        if not kind:
            self._skip(path, "neither code nor configuration that porter reads")
        elif kinds.is_data(kind, _size(real)):
            self._skip(path, "too large to be configuration")
        else:
            self._single.setdefault(real, (path, kind))

    def _take(self, file: File, real: str) -> None:
        if real not in self._taken:
            self._taken.add(real)
            self.found.files.append(file)

    def _skip(self, path: Path, reason: str, *, failed: bool = False) -> None:
        self.found.skipped.append(Skipped(str(path), reason, failed))

    def _is_excluded(self, real: Path, root: Path) -> bool:
        return is_excluded(real, root, self._exclusions)


def is_excluded(path: Path, root: Path, exclusions: Sequence[Exclusion]) -> bool:
    """Whether porter leaves out the file at this absolute path, below `root`, without links."""
    return _is_own(path.parent) or any(exclusion.excludes(path, root) for exclusion in exclusions)


@cache
def _is_own(folder: Path) -> bool:
    return folder.is_relative_to(_SELF) or not _OWN.isdisjoint(folder.parts)


def _real(path: Path | str) -> Path:
    return Path(os.path.realpath(path))


def _mode(path: Path | str) -> int:
    """Return the mode of what is at a path, 0 where there is nothing."""
    try:
        return os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0
    except OSError:
        return stat.S_IFREG  # reading it will tell


def _size(path: Path | str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def _kind(path: Path) -> str:
    """Return the kind of a file that the user names: by its name, or its first line."""
    if not stat.S_ISREG(_mode(path)):
        return ""
    kind = kinds.of(path.as_posix())
    if kind or path.suffix:
        return kind
    try:
        with path.open("rb") as file:
            line = file.readline(200)
    except OSError:
        return kinds.PYTHON  # reading it will tell
    return kinds.of_script(line)
