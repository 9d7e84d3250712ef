"""The environment in which a process, and all that it starts, is watched."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

_SITE = Path(__file__).parent / "site"


def watched(
    environment: Mapping[str, str],
    journal: Path,
    root: Path,
    *,
    trap: bool,
    steps: int | None = None,
) -> dict[str, str]:
    """Return an environment with what has a child process watched.

    Args:
        environment: what the child gets besides.
        journal: a folder for the files that the processes write; `journal.Reader` reads them.
        root: a folder, or a file: what lies there is the user's code.
        trap: whether uses of torch.cuda are recorded: not where CUDA is what is meant.
        steps: after how many steps of its optimizers a process is to end; None for never.
    """
    settings = {
        "journal": str(journal),
        "root": os.path.realpath(root),
        "trap": trap,
        "steps": steps or 0,
    }
    path = [str(_SITE), *filter(None, [environment.get("PYTHONPATH")])]
    return {
        **environment,
        "PYTHONPATH": os.pathsep.join(path),
        "PORTER_VERIFY": json.dumps(settings),
        "PYTHONDONTWRITEBYTECODE": "1",  # no __pycache__ beside the user's files
        "PYTHONUNBUFFERED": "1",  # the last lines are there when a process is killed
    }
