"""The baseline: findings that were there when a project began to be checked.

They are known by rule, file, source line (whatever its indentation) and count, not by line
numbers, so that code may move; a file that git knows under another name is the same file. A
baseline only ever shrinks.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from porter import git
from porter.check.judge import Fix, Verdict
from porter.errors import Refused
from porter.model import Finding, Level, Options

_VERSION = 1
_HOW = "`porter check --baseline {} --write-baseline`"

Key = tuple[str, str]
"""A code, and a source line in which runs of blanks are single ones."""


@dataclass
class Baseline:
    """The findings of a baseline file, counted: those of a file by its path from there."""

    path: Path
    files: dict[str, Counter[Key]] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path) -> Baseline:
        """Read a baseline.

        Raises:
            Refused: there is none, or it isn't one.
        """
        make = _HOW.format(path)
        try:
            document = json.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            raise Refused(f"there is no baseline {path}; {make} makes one") from None
        except (OSError, ValueError, RecursionError) as error:
            raise Refused(
                f"{path} can't be read as a baseline ({error}); mend it, or remove it and make it "
                f"anew: {make}"
            ) from error
        try:
            return cls(path, _entries(document))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise Refused(
                f"{path} is no baseline of this porter ({error!r}); remove it and make it anew: "
                f"{make}"
            ) from error

    def name(self, verdict: Verdict) -> str:
        """Return what the baseline calls a file: its path from the baseline's own folder."""
        real = verdict.target.root / verdict.target.name
        folder = os.path.realpath(self.path.parent)
        return Path(os.path.relpath(real, folder)).as_posix()

    def follow_renames(self, verdicts: Iterable[Verdict]) -> None:
        """Move the entries of files that have another name since the baseline was written."""
        names = {self.name(verdict) for verdict in verdicts if verdict.findings}
        folder = Path(os.path.realpath(self.path.parent))
        gone = {name for name in self.files if not os.path.lexists(folder / name)}
        root = git.find_root(folder)
        if not gone or names <= self.files.keys() or root is None:
            return
        own = Path(os.path.realpath(self.path)).relative_to(root).as_posix()
        with contextlib.suppress(git.GitError):  # then nothing was renamed, as far as anyone knows
            for new, old in git.renames(root, git.last_change(root, own)).items():
                before, after = (
                    Path(os.path.relpath(root / name, folder)).as_posix() for name in (old, new)
                )
                if before in gone and after not in self.files:
                    self.files[after] = self.files.pop(before)

    def split(self, verdict: Verdict) -> Verdict:
        """Move findings that the baseline holds to `known`, in the order of their lines."""
        left = Counter(self.files.get(self.name(verdict), ()))
        new: list[Finding] = []
        known: list[Finding] = []
        fixes: list[tuple[Fix, ...]] = []
        for at, finding in enumerate(verdict.findings):
            if finding.level is not Level.ERROR and left[key(finding)]:
                left[key(finding)] -= 1
                known.append(finding)
            else:
                new.append(finding)
                fixes += verdict.fixes[at : at + 1]
        return replace(verdict, findings=tuple(new), known=tuple(known), fixes=tuple(fixes))

    def stale(
        self, verdicts: Iterable[Verdict], scopes: Sequence[Path], options: Options
    ) -> dict[str, Counter[Key]]:
        """Return the entries that no finding has any more.

        Args:
            verdicts: the judged files, after `split`.
            scopes: the files and folders that were to be judged: what of them isn't there is gone.
            options: entries of rules that weren't asked are not known to be stale.
        """
        found = {self.name(v): Counter(map(key, v.known)) for v in verdicts if not v.failed}
        failed = {self.name(v) for v in verdicts if v.failed}
        folder = Path(os.path.realpath(self.path.parent))
        reals = [Path(os.path.realpath(scope)) for scope in scopes]
        result: dict[str, Counter[Key]] = {}
        for name, entries in self.files.items():
            real = Path(os.path.normpath(folder / name))
            if name in failed or not any(real.is_relative_to(scope) for scope in reals):
                continue
            rest = entries - found.get(name, Counter())
            rest = Counter({k: n for k, n in rest.items() if options.wants(k[0])})
            if rest:
                result[name] = rest
        return result

    def without(self, stale: Mapping[str, Counter[Key]]) -> Baseline:
        """Return the baseline less stale entries."""
        files = {name: c - stale.get(name, Counter()) for name, c in self.files.items()}
        return Baseline(self.path, {name: c for name, c in files.items() if c})

    def write(self) -> None:
        """Write the file, whole or not at all.

        Raises:
            Refused: it can't be written.
        """
        document = {
            "version": _VERSION,
            "files": {
                name: [
                    {"code": code, "source": source, "count": count}
                    for (code, source), count in sorted(self.files[name].items())
                ]
                for name in sorted(self.files)
            },
        }
        text = json.dumps(document, indent=1) + "\n"
        temporary = ""
        try:
            descriptor, temporary = tempfile.mkstemp(prefix=".porter-", dir=self.path.parent)
            with os.fdopen(descriptor, "wb") as file:
                file.write(text.encode("ascii"))
            mode = self.path.stat().st_mode if self.path.exists() else 0o644
            Path(temporary).chmod(mode & 0o777)
            Path(temporary).replace(self.path)
        except OSError as error:
            if temporary:
                Path(temporary).unlink(missing_ok=True)
            raise Refused(f"the baseline can't be written: {error}") from error


def of(path: Path, verdicts: Iterable[Verdict]) -> Baseline:
    """Return the baseline that holds all findings."""
    made = Baseline(path)
    for verdict in verdicts:
        found = Counter(key(f) for f in verdict.findings if f.level is not Level.ERROR)
        if found:
            made.files[made.name(verdict)] = found
    return made


def key(finding: Finding) -> Key:
    """Return what a finding is known by inside its file."""
    return finding.code, " ".join(finding.source.split())


def _entries(document: Any) -> dict[str, Counter[Key]]:
    if document["version"] != _VERSION:
        raise ValueError(f"version {document['version']!r}")
    files: dict[str, Counter[Key]] = {}
    for name, entries in document["files"].items():
        counts = files[name] = Counter()
        for entry in entries:
            code, source, count = entry["code"], entry["source"], entry["count"]
            if not (isinstance(code, str) and isinstance(source, str) and type(count) is int):
                raise TypeError(f"an entry of {name}")
            if count < 1:
                raise ValueError(f"a count of {count} in {name}")
            counts[code, source] += count
    return files
