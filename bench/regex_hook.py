"""What repositories write by hand: a pre-commit hook that looks for CUDA line by line.

    python regex_hook.py FOLDER

It stands for the hooks of vLLM and DeepSpeed, of whose kind it is: one expression, every line.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

FORBIDDEN = re.compile(r"\btorch\.cuda\b|\.cuda\(|[\"']cuda(?::\d+)?[\"']|[\"']nccl[\"']")

for path in sorted(Path(sys.argv[1]).rglob("*.py")):
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if FORBIDDEN.search(line) and not line.lstrip().startswith("#"):
                print(f"{path}:{number}: {line.rstrip()}")
