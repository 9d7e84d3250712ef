"""Files of configuration on the command line: rewrite, check, and what they cost."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

import pytest

from tests.cli.harness import Porter, Repository

FILES = {
    "conf/train.yaml": b"# device: cuda\ndevice: cuda:0  # or cpu\nname: cuda-baseline\n",
    "run.sh": b"#!/bin/sh\nCUDA_VISIBLE_DEVICES=0 python train.py --lr 1\n",
    "ds.json": b'{"zero": 1, "comm_backend_name": "nccl"}',
    "requirements.txt": b"torch\nflash-attn==2.5\n",
    "Dockerfile": b"FROM nvidia/cuda:12.1.0-base-ubuntu22.04\n",
    ".github/workflows/ci.yml": b"jobs: {a: {steps: [{run: nvidia-smi}]}}\n",
}
EXPECTED = {
    ("conf/train.yaml", 2, "PTR801"),
    ("run.sh", 2, "PTR805"),
    ("ds.json", 1, "PTR803"),
    ("requirements.txt", 2, "PTR815"),
    ("Dockerfile", 1, "PTR813"),
    (".github/workflows/ci.yml", 1, "PTR814"),
}


@pytest.fixture
def tree(repository: Repository) -> Repository:
    """Return a repository with one file of each format."""
    for name, data in FILES.items():
        repository.write(name, data)
    repository.commit()
    return repository


def manual(document: dict[str, list[dict[str, object]]]) -> set[tuple[object, object, object]]:
    return {
        (file["path"], finding["line"], finding["code"])
        for file in document["files"]
        for finding in file["findings"]  # type: ignore[attr-defined]
        if finding.get("level", "manual") == "manual"
    }


def test_rewrite_reports_and_leaves_everything(tree: Repository, porter: Porter) -> None:
    done = porter("rewrite", "--format", "json", ".")
    assert done.code == 0
    assert manual(json.loads(done.out)) == EXPECTED
    assert tree.git("status", "--porcelain") == b""


def test_rewrite_with_configs_writes_what_is_safe(tree: Repository, porter: Porter) -> None:
    dry = porter("rewrite", "--dry-run", "--configs", ".")
    assert b"+CUDA_VISIBLE_DEVICES=0 ASCEND_RT_VISIBLE_DEVICES=0 python" in dry.out
    assert tree.git("status", "--porcelain") == b""
    assert porter("rewrite", "--configs", ".").code == 0
    assert tree.git("status", "--porcelain") == b" M run.sh\n"
    patch = tree.git("diff")
    tree.git("checkout", "--", ".")
    start = dry.out.index(b"--- ")
    applied = subprocess.run(
        ["git", "apply", "-"], cwd=tree.path, input=dry.out[start:], check=False
    )
    assert applied.returncode == 0
    assert tree.git("diff") == patch
    assert porter("rewrite", "--configs", "--allow-dirty", ".").code == 0
    assert tree.git("diff") == patch, "a second run changes the result"


def test_check_judges_all_or_what_is_new(tree: Repository, porter: Porter) -> None:
    done = porter("check", "--all", "--format", "json")
    assert done.code == 1
    assert manual(json.loads(done.out)) == EXPECTED
    tree.write("conf/train.yaml", FILES["conf/train.yaml"] + b"dist_backend: nccl\n")
    tree.git("add", "-A")
    staged = porter("check", "--format", "json")
    assert manual(json.loads(staged.out)) == {("conf/train.yaml", 4, "PTR803")}


def test_check_fixes_what_is_safe_where_it_is_asked_to(tree: Repository, porter: Porter) -> None:
    assert porter("check", "--all", "--fix").code == 1
    assert tree.git("status", "--porcelain") == b""
    assert porter("check", "--all", "--fix", "--configs").code == 1
    assert tree.git("status", "--porcelain") == b" M run.sh\n"


def test_a_broken_file_costs_no_other(tree: Repository, porter: Porter) -> None:
    tree.write("conf/train.yaml", b"device: [cuda\n")
    done = porter("rewrite", "--format", "json", "--allow-dirty", ".")
    assert done.code == 2
    document = json.loads(done.out)
    assert document["summary"]["errors"] == 1
    assert manual(document) == EXPECTED - {("conf/train.yaml", 2, "PTR801")}


LOADED = """
import sys
from porter.configs import rewrite_config
from porter.model import Options
result = rewrite_config(b"device: cuda\\n", name="a.yaml", options=Options())
assert len(result.findings) == 1
print("libcst" in sys.modules, "torch" in sys.modules, "click" in sys.modules)
"""


def test_a_finding_in_yaml_imports_no_parser_of_python(
    python: Callable[..., subprocess.CompletedProcess[bytes]], tree: Repository
) -> None:
    done = python(LOADED, cwd=tree.path)
    assert done.stdout.split() == [b"False", b"False", b"False"], done.stderr
