"""The README says what is so."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def porter(*arguments: str) -> str:
    """Run the command line and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "porter", *arguments],
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT}:{ROOT}/rules:{ROOT}/runtime", "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_the_rule_table_is_the_generated_one() -> None:
    table = re.search(r"<!-- rules: [^>]*-->\n(.*?)<!-- /rules -->", README, re.S)
    assert table is not None
    assert table.group(1) == porter("rules", "--format", "md")


def test_the_opening_diff_is_what_porter_does(tmp_path: Path) -> None:
    diff = re.search(r"```diff\n(.*?)```", README, re.S)
    assert diff is not None
    lines = diff.group(1).splitlines()
    before = "".join(f"{line[1:]}\n" for line in lines if line[:1] != "+")
    after = "".join(f"{line[1:]}\n" for line in lines if line[:1] != "-")
    head = (
        "import torch.distributed as dist\n"
        "from torch.nn.parallel import DistributedDataParallel as DDP\n"
    )
    script = tmp_path / "train.py"
    script.write_text(before.replace("import torch\n", f"import torch\n{head}"))
    porter("rewrite", str(script))
    assert script.read_text().replace(head, "") == after


@pytest.mark.parametrize("command", re.findall(r"^\| `porter (\w+)", README, re.M))
def test_every_command_of_the_table_has_help_with_an_example(command: str) -> None:
    text = porter(command, "--help")
    assert f"porter {command}" in text
