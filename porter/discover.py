"""Which files a run is about: paths from the command line become Python files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from porter import git
from porter.exclude import Exclusion, relative
from porter.walk import walk

_LINK = "a link to something outside the given paths; give that path to port it"
_REPOSITORY = "a repository of its own; give its path to port it"


@dataclass(frozen=True)
class File:
    """A file to look at.

    `path` opens it and names it to the user. `name` is its path relative to `root`, with forward
    slashes; `root` is the repository's folder where `in_git` says that git can bring the file
    back, and elsewhere what paths in a diff are to be relative to.
    """

    path: str
    root: str
    name: str
    in_git: bool


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
    notes: list[str] = field(default_factory=list)
    scopes: dict[str, list[str]] = field(default_factory=dict)
    """The repositories that were listed: of each root, the given paths relative to it."""


def discover(paths: Sequence[str], exclusions: Sequence[Exclusion] = ()) -> Discovery:
    """Find the Python files at and below the paths.

    In a git work tree these are the tracked files and the untracked ones that are not ignored;
    elsewhere all but those in junk folders. A file that is a path of its own is taken whatever
    git says. What `exclusions` leave out is not taken either way. A link stands for the file
    that it leads to, which is taken once; a link out of the given paths is skipped.

    Args:
        paths: files and folders, all of which exist.
        exclusions: each holds for all paths.
    """
    search = _Search(paths, exclusions)
    for path in paths:
        if os.path.isdir(path):
            search.add_folder(path, os.path.realpath(path))
        else:
            search.add_file(path)
    search.follow_links()
    search.add_single_files()
    found = search.found
    found.files.sort(key=lambda file: os.fsencode(file.path))
    found.skipped.sort(key=lambda skipped: os.fsencode(skipped.path))
    return found


class _Search:
    """The state of one discovery. Paths called real are absolute and free of links."""

    def __init__(self, paths: Sequence[str], exclusions: Sequence[Exclusion]) -> None:
        self.found = Discovery()
        self._exclusions = exclusions
        self._cwd = os.path.realpath(".")
        self._trees: dict[str, str] = {}
        """Real folders that links may lead into, and what the user calls each."""
        for path in paths:
            tree = path if os.path.isdir(path) else os.path.dirname(path)
            self._trees.setdefault(os.path.realpath(tree or "."), tree or ".")
        self._taken: set[str] = set()
        self._links: dict[str, str] = {}
        self._single: dict[str, str] = {}
        self._real: dict[str, str] = {}

    def add_folder(self, top: str, real: str) -> None:
        """Take what is below a folder that the user calls `top`."""
        root = git.find_root(Path(real))
        names = self._ask_git(top, real) if root else None
        if root is None or names is None:
            base = self._base(real)
            for name in walk(top, self._nested, self._unreadable):
                self._add(top, name, real, base, in_git=False)
        else:
            self._look_into(str(root), [relative(real, str(root)) or "."])
            for name in names:
                self._add(top, name, real, str(root), in_git=True)

    def add_file(self, path: str) -> None:
        """Take a file that the user names, if it is Python."""
        real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        if os.path.islink(path):
            self._links[path] = os.path.realpath(path)
        else:
            self._add_single(path, real, os.path.dirname(real))

    def follow_links(self) -> None:
        """Take the files that links lead to, where they are below the given paths."""
        for link, target in self._links.items():
            if not (os.path.isdir(target) or link.endswith(".py")):
                continue
            trees = [tree for tree in self._trees if relative(target, tree) is not None]
            if not trees:
                self._skip(link, _LINK if os.path.exists(target) else "a link to nothing")
            elif not os.path.isdir(target) and target not in self._taken:
                tree = max(trees, key=len)
                path = _join(self._trees[tree], relative(target, tree) or "")
                self._add_single(path, target, tree)

    def add_single_files(self) -> None:
        """Take the files that were not found in a listing, and ask git about them at once."""
        by_root: dict[str, list[str]] = {}
        for real in sorted(self._single.keys() - self._taken):
            root = git.find_root(Path(real).parent)
            by_root.setdefault(str(root) if root else "", []).append(real)
        for real in by_root.pop("", []):
            base = self._base(os.path.dirname(real))
            self._take(File(self._single[real], base, relative(real, base) or "", False), real)
        for base, reals in by_root.items():
            names = [relative(real, base) or "" for real in reals]
            try:
                ignored = git.ignored(Path(base), names)
                self._look_into(base, names)
            except git.GitError as error:
                self.found.notes.append(f"{base}: {error}")
                ignored = set(names)
            for real, name in zip(reals, names, strict=True):
                self._take(File(self._single[real], base, name, name not in ignored), real)

    def _ask_git(self, top: str, real: str) -> Iterator[str] | None:
        """Return the names below the folder that git knows of; None where it can't tell."""
        folder = Path(real)
        try:
            tracked, untracked = git.tracked(folder), git.untracked(folder)
            if not tracked and not untracked and folder != git.find_root(folder):
                if git.ignored(folder.parent, [folder.name]):
                    return None  # the user asks for what git is told to overlook
        except git.GitError as error:
            self.found.notes.append(f"{top}: {error}; all its files are taken")
            return None
        return self._sort_out(top, real, tracked, untracked)

    def _sort_out(
        self, top: str, real: str, tracked: list[tuple[str, str]], untracked: list[str]
    ) -> Iterator[str]:
        for mode, name in tracked:
            if mode == git.SUBMODULE:
                self._skip_repository(top, name, real)
            elif mode == git.LINK or name.endswith(".py"):
                yield name
        for name in untracked:
            if name.endswith("/"):
                self._skip_repository(top, name.rstrip("/"), real)
            elif name.endswith(".py"):
                yield name

    def _nested(self, folder: str) -> bool:
        """Leave a repository below a folder that is in none to git."""
        if not os.path.lexists(os.path.join(folder, ".git")):
            return False
        self.add_folder(folder, os.path.realpath(folder))
        return True

    def _unreadable(self, error: OSError) -> None:
        self._skip(str(error.filename), f"cannot be read: {error.strerror}", failed=True)

    def _base(self, folder: str) -> str:
        """Return what paths in a diff are relative to where no repository tells."""
        return folder if relative(folder, self._cwd) is None else self._cwd

    def _look_into(self, root: str, names: list[str]) -> None:
        self.found.scopes.setdefault(root, []).extend(names)

    def _add_single(self, path: str, real: str, root: str) -> None:
        """Remember a file that no listing holds, if it is Python."""
        if self._is_excluded(real, root):
            return
        if _is_python(real):
            self._single.setdefault(real, path)
        else:
            self._skip(path, "not a Python file")

    def _skip(self, path: str, reason: str, *, failed: bool = False) -> None:
        self.found.skipped.append(Skipped(path, reason, failed))

    def _skip_repository(self, top: str, name: str, real: str) -> None:
        path = _join(top, name)
        if os.path.lexists(os.path.join(path, ".git")) and not self._is_excluded(
            os.path.join(real, name, ".git"), real
        ):
            self._skip(path, _REPOSITORY)

    def _is_excluded(self, real: str, root: str) -> bool:
        return any(exclusion.excludes(real, root) for exclusion in self._exclusions)

    def _add(self, top: str, name: str, real_top: str, base: str, *, in_git: bool) -> None:
        """Take the file `name` below a folder, or note where it leads as a link."""
        real = os.path.join(real_top, name)
        if self._is_excluded(real, real_top):
            return
        path = _join(top, name)
        try:
            mode = os.lstat(real).st_mode
        except FileNotFoundError:
            return  # tracked, and removed since
        except OSError:
            mode = stat.S_IFREG  # opening it will tell
        folder = os.path.dirname(real)
        if folder not in self._real:
            self._real[folder] = os.path.realpath(folder)
        # git goes on to list the files of a folder that has been replaced by a link.
        if stat.S_ISLNK(mode) or self._real[folder] != folder:
            self._links[path] = os.path.realpath(real)
        elif not stat.S_ISREG(mode):
            self._skip(path, "not a regular file")
        else:
            self._take(File(path, base, relative(real, base) or "", in_git), real)

    def _take(self, file: File, real: str) -> None:
        if real not in self._taken:
            self._taken.add(real)
            self.found.files.append(file)


def _join(top: str, name: str) -> str:
    """Return the path of `name` below `top`, as a user would write it."""
    return os.path.join("" if top == "." else top.removeprefix("./"), name)


def _is_python(path: str) -> bool:
    """Whether a file that the user names is Python: by its name, or its first line."""
    suffix = os.path.splitext(path)[1]
    if suffix not in {"", ".py"} or not os.path.isfile(path):
        return False
    if suffix:
        return True
    try:
        with open(path, "rb") as file:
            line = file.readline(200)
    except OSError:
        return True  # reading it will tell
    return line.startswith(b"#!") and b"python" in line
