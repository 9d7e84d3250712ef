"""What porter tells the watched processes, in one variable of the environment."""

from __future__ import annotations

import json
from typing import NamedTuple


class Settings(NamedTuple):
    """Settings of a run.

    Attributes:
        journal: the folder for the files that processes write.
        root: the real path of what is verified: code of files below it is the user's.
        trap: whether uses of torch.cuda are recorded: not where CUDA is what is meant.
        steps: after how many steps of an optimizer a process is to end; 0 for never.
    """

    journal: str
    root: str
    trap: bool
    steps: int


def parse(text: str) -> Settings:
    """Read the settings as porter writes them."""
    return Settings(**json.loads(text))
