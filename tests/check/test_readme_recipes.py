"""The README's hook for pushes and its workflow, run as they stand there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.cli.harness import Repository

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
OLD = b"import torch\n\nold = model.cuda()\n"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.M | re.S)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return variables under which `porter` is a command, as where it is installed."""
    command = tmp_path / "bin" / "porter"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m porter "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    sources = os.pathsep.join(str(ROOT / part) for part in ("", "rules", "runtime"))
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    return {**kept, "PATH": path, "PYTHONPATH": sources}


@pytest.fixture
def clone(tmp_path: Path, repository: Repository) -> Repository:
    """Return a work tree on a branch, of whose `origin/main` old CUDA code is a part."""
    repository.git("checkout", "-q", "-b", "main")
    repository.write("train.py", OLD)
    repository.commit()
    origin = tmp_path / "origin.git"
    repository.git("clone", "-q", "--bare", ".", str(origin))
    repository.git("remote", "add", "origin", str(origin))
    repository.git("fetch", "-q", "origin")
    repository.git("checkout", "-q", "-b", "work")
    return repository


def push(clone: Repository, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "push", "-q", "origin", "work"],
        cwd=clone.path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_hook_judges_what_a_push_adds(clone: Repository, environment: dict[str, str]) -> None:
    script = next(text for text in blocks("sh") if text.startswith("#!/bin/sh"))
    hook = clone.write(".git/hooks/pre-push", script.encode())
    hook.chmod(0o755)
    clone.write("train.py", OLD + b"fine = 1\n")
    clone.commit()
    assert push(clone, environment).returncode == 0
    clone.write("train.py", OLD + b"new = model.cuda()\n")
    clone.commit()
    refused = push(clone, environment)
    assert refused.returncode != 0
    assert "train.py:4:7: PTR101" in refused.stdout + refused.stderr
    assert "train.py:3" not in refused.stdout + refused.stderr


def test_the_workflow_annotates_what_a_pull_request_adds(
    clone: Repository, environment: dict[str, str]
) -> None:
    text = next(text for text in blocks("yaml") if "pull_request" in text)
    steps = yaml.safe_load(text)["jobs"]["porter"]["steps"]
    assert steps[0]["with"]["fetch-depth"] == 0
    command = steps[-1]["run"].replace("${{ github.base_ref }}", "main")
    clone.write("train.py", OLD + b"new = model.cuda()\n")
    clone.commit()
    done = subprocess.run(
        ["bash", "-e", "-c", command],
        cwd=clone.path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    annotations = [line for line in done.stdout.splitlines() if line.startswith("::")]
    assert len(annotations) == 1
    assert "file=train.py,line=4" in annotations[0]
