"""What a run is told: the command line's options over those of the configuration."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from porter import config
from porter.errors import Refused
from porter.exclude import Excluder, Exclusion, PatternError
from porter.model import IDLE_PRAGMA, UNSPOKEN, Options
from porter.vendored import find_package


@dataclass(frozen=True)
class PerFile:
    """Codes to be ignored in the files that patterns match."""

    ignores: tuple[tuple[Exclusion, tuple[str, ...]], ...] = ()

    def options(self, options: Options, path: Path, root: Path) -> Options:
        """Return the options that hold for one file.

        Args:
            options: what holds elsewhere.
            path: the file, absolute and without links.
            root: the folder that patterns are relative to for files outside the project.
        """
        more = [codes for pattern, codes in self.ignores if pattern.excludes(path, root)]
        if not more:
            return options
        return replace(options, ignore=(*options.ignore, *(c for codes in more for c in codes)))


@dataclass(frozen=True)
class Settings:
    """The settings of one run; `vendor` and `baseline` are paths that can be opened.

    `vendor` is the package with the repository's copy of the shim: the one that was named, else
    the only one that is there.
    """

    select: tuple[str, ...]
    ignore: tuple[str, ...]
    exclusions: tuple[Exclusion, ...]
    jobs: int | None
    vendor: Path | None
    baseline: Path | None = None
    per_file: PerFile = PerFile()


def resolve(
    paths: Sequence[Path],
    *,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    exclude: Sequence[str] = (),
    jobs: int | None = None,
    vendor: Path | None = None,
    baseline: Path | None = None,
) -> Settings:
    """Merge the given options with the configuration that holds for the first path.

    `exclude` adds to what is configured; every other option that is given replaces it. Patterns
    and folders are relative to the working directory here, to pyproject.toml's folder there.
    Codes may stand one by one or separated by commas.

    Raises:
        Refused: an option, or a configured value, makes no sense.
    """
    configured = config.load(paths[0])
    exclusions = [_exclusion(Path(os.path.realpath(".")), exclude, "--exclude")]
    if configured.path is not None:
        if vendor is None and configured.vendor is not None:
            vendor = configured.path.parent / configured.vendor
        if baseline is None and configured.baseline is not None:
            baseline = configured.path.parent / configured.baseline
        exclusions.append(
            _exclusion(configured.path.parent, configured.exclude, f"{configured.path}: exclude")
        )
    if vendor is None:
        vendor = find_package(paths[0])
    return Settings(
        _codes(select, "--select") or _codes(configured.select, f"{configured.path}: select"),
        _codes(ignore, "--ignore") or _codes(configured.ignore, f"{configured.path}: ignore"),
        tuple(exclusions),
        jobs or configured.jobs,
        vendor,
        baseline,
        _per_file(configured),
    )


def _per_file(configured: config.Config) -> PerFile:
    if configured.path is None:
        return PerFile()
    where = f"{configured.path}: per-file-ignores"
    return PerFile(
        tuple(
            (_exclusion(configured.path.parent, [pattern], where), _codes(codes, where))
            for pattern, codes in configured.per_file_ignores.items()
        )
    )


def _exclusion(base: Path, patterns: Sequence[str], where: str) -> Exclusion:
    try:
        return Exclusion(base, Excluder(patterns))
    except PatternError as error:
        raise Refused(f"{where}: {error}") from error


def _codes(given: Iterable[str], where: str) -> tuple[str, ...]:
    """Split and check codes; each has to begin the code of a rule."""
    codes = tuple(
        code for text in given for part in text.split(",") if (code := part.strip().upper())
    )
    if not codes:
        return ()
    from porter.catalogue import catalogue

    known = [UNSPOKEN, IDLE_PRAGMA, *(rule.code for rule in catalogue())]
    for code in codes:
        if not any(each.startswith(code) for each in known):
            raise Refused(f"{where}: no rule's code begins with {code}; see `porter rules`")
    return codes
