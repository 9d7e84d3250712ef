"""Whether git could bring back what a run is about to change."""

from __future__ import annotations

from porter import git
from porter.discover import Discovery


def uncommitted(found: Discovery) -> list[str]:
    """Return the files that `git diff` would show beside porter's work, or that git has not seen.

    These are the changed files of any kind below the given paths, and the untracked ones among
    those that porter looks at.

    Raises:
        git.GitError: git can't tell about a repository.
    """
    if found.refusals:
        raise git.GitError(found.refusals[0])
    looked_at = {(file.root, file.name) for file in found.files}
    return [
        str(root / name)
        for root, scope in sorted(found.scopes.items())
        for status, name in git.changes(root, scope)
        if status != "??" or (root, name) in looked_at
    ]
