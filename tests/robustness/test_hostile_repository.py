"""Nothing that a repository brings along is run, and nothing outside of it is written.

A tripwire shows what is run: a file that each planted program would write to.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.harness import Repository
from tests.cli.samples import PORTED, SITE
from tests.robustness import hostile
from tests.robustness.conftest import Porter, environment

COMMANDS = [
    ["rewrite", "--dry-run", "."],
    ["rewrite", "--jobs", "2", "--dry-run", "--format", "json", "."],
    ["rewrite", "--allow-dirty", "."],
    ["rewrite", "train.py", "--allow-dirty"],
    ["check"],
    ["check", "--all", "."],
    ["check", "--all", "--format", "sarif", "."],
    ["check", "--staged"],
    ["check", "--diff-base", "HEAD"],
    ["check", "--fix"],
    ["check", "--baseline", "baseline.json", "--write-baseline", "."],
]


@pytest.fixture
def tripwire(tmp_path: Path) -> Path:
    return tmp_path / "tripwire"


@pytest.fixture
def planted(repository: Repository, tripwire: Path) -> Repository:
    """Return a repository with the modules, and with a staged and an unstaged change."""
    hostile.plant(repository, tripwire)
    repository.commit()
    repository.write("train.py", SITE + b"# staged\ny = torch.zeros(1).cuda()\n")
    repository.git("add", "train.py")
    repository.write("setup.py", SITE + b"# unstaged\n")
    hostile.arm_git(repository, tripwire)
    return repository


def test_the_tripwire_works(planted: Repository, tripwire: Path) -> None:
    subprocess.run([sys.executable, "-c", "import torch_npu"], cwd=planted.path, check=False)
    assert tripwire.read_text().startswith("torch_npu")
    planted.git("diff", "--cached", "--textconv", "--ext-diff")
    assert "program" in tripwire.read_text()


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_nothing_of_the_repository_is_run(
    planted: Repository, tripwire: Path, porter: Porter, command: list[str]
) -> None:
    done = porter(*command, cwd=planted.path)
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    assert not tripwire.exists(), tripwire.read_text()
    # It did its work: every form of output, and every file that is written, speaks of a site.
    site = re.compile(rb"PTR101|site rewritten|sites rewritten|1 finding fixed|holds \d+ findings")
    assert site.search(done.stdout + done.stderr) or b"accel.device_type" in done.stdout


@pytest.mark.parametrize("command", [["rewrite", "--dry-run", "."], ["check", "--all", "."]])
def test_nothing_is_run_though_python_searches_the_folder(
    planted: Repository, tripwire: Path, command: list[str]
) -> None:
    (planted.path / "porter/__init__.py").unlink()  # `-m` itself looks there for porter first
    (planted.path / "porter/tensor_cuda.py").unlink()
    for shadow in ("sitecustomize.py", "usercustomize.py"):
        (planted.path / shadow).unlink()
    done = subprocess.run(
        [sys.executable, "-m", "porter", *command],
        cwd=planted.path,
        env=environment(),
        capture_output=True,
        check=False,
    )
    assert done.returncode in {0, 1}, done.stderr
    assert b"Traceback" not in done.stderr
    assert not tripwire.exists(), tripwire.read_text()


def test_a_variable_that_leads_into_the_repository_is_the_users_own(
    planted: Repository, tripwire: Path, script: Path
) -> None:
    """It shows that the modules would be found: with the folder on Python's path they are run."""
    variables = environment()
    variables["PYTHONPATH"] = f"{planted.path}:{variables['PYTHONPATH']}"
    command = [sys.executable, str(script), "rules"]
    subprocess.run(command, env=variables, capture_output=True, check=False)
    assert tripwire.exists()


PYPROJECTS = {
    "a number": b"tool = 1\n",
    "a list": b"[tool]\nporter = []\n",
    "an odd exclude": b"[tool.porter]\nexclude = {a = 1}\n",
    "an odd jobs": b"[tool.porter]\njobs = -5\n",
    "a huge jobs": b"[tool.porter]\njobs = 1e99\n",
    "a date": b"[tool.porter]\nselect = 2020-01-01\n",
    "nested": b"[tool.porter]\nselect = " + b"[" * 500 + b"]" * 500 + b"\n",
    "a NUL": b'[tool.porter]\nvendor = "a\\u0000b"\n',
    "a way out": b'[tool.porter]\nvendor = "../../outside"\n',
    "no UTF-8": b"\xff\xfe\n",
    "a broken pattern": b'[tool.porter]\nexclude = ["["]\n',
    "an odd table": b'[tool.porter.per-file-ignores]\n"*" = [1]\n',
    "an unknown rule": b'[tool.porter]\nignore = ["XYZ"]\n',
}


@pytest.mark.parametrize("text", PYPROJECTS.values(), ids=PYPROJECTS.keys())
@pytest.mark.parametrize("command", ["rewrite", "check"])
def test_an_odd_pyproject_is_refused_with_its_name(
    tmp_path: Path, repository: Repository, porter: Porter, text: bytes, command: str
) -> None:
    (tmp_path / "outside").mkdir()
    repository.write("pyproject.toml", text)
    site = repository.write("train.py", SITE)
    repository.commit()
    done = porter(command, ".", cwd=repository.path)
    if text.startswith(b"tool ="):  # no table of porter's at all
        assert done.returncode in {0, 1}
        return
    assert done.returncode == 2, done.stdout
    assert b"Traceback" not in done.stderr
    assert b"pyproject.toml" in done.stderr or b"vendor" in text
    assert site.read_bytes() == SITE
    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.parametrize("tracked", [True, False], ids=["tracked", "untracked"])
def test_odd_files_lead_nowhere(
    tmp_path: Path, repository: Repository, porter: Porter, tracked: bool
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "target.py").write_bytes(SITE)
    names = hostile.odd_files(repository.path, outside)
    if tracked:
        repository.commit()
    before = hostile.snapshot(outside)
    done = porter("rewrite", "--allow-dirty", ".", cwd=repository.path, timeout=60)
    assert hostile.snapshot(outside) == before
    assert b"Traceback" not in done.stderr
    for name in names:
        assert (repository.path / name).read_bytes() == PORTED, name
    # Whatever is printed of a name stays on its line, and changes no terminal.
    printed = done.stdout + done.stderr
    assert b"\x1b" not in printed
    assert b"\r" not in printed
    assert "\u202e".encode() not in printed
    assert f"{len(names)} changed".encode() in printed
    checked = porter("check", "--all", ".", cwd=repository.path, timeout=60)
    assert checked.returncode == 0, checked.stdout
    assert hostile.snapshot(outside) == before


def test_a_named_path_is_the_only_one_that_is_written(
    tmp_path: Path, repository: Repository, porter: Porter
) -> None:
    for name in ("given/a.py", "given/sub/b.py", "beside/c.py", "d.py"):
        repository.write(name, SITE)
    (repository.path / "given/link.py").symlink_to("../beside/c.py")
    (repository.path / "given/up").symlink_to("..")
    repository.commit()
    porter("rewrite", "given", cwd=repository.path)
    changed = repository.git("status", "--porcelain").decode().split()[1::2]
    assert changed == ["given/a.py", "given/sub/b.py"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["repository"]


def test_a_home_that_must_not_be_written(
    tmp_path: Path, repository: Repository, porter: Porter
) -> None:
    """No cache, no log, nothing: only the files that are ported."""
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    for folder in (home, temporary):
        folder.mkdir()
    repository.write("a.py", SITE)
    repository.commit()
    variables = {"HOME": str(home), "TMPDIR": str(temporary), "XDG_CACHE_HOME": str(home)}
    before = {path for path in repository.path.rglob("*") if ".git" not in path.parts}
    assert porter("rewrite", ".", cwd=repository.path, **variables).returncode == 0
    assert porter("check", "--all", ".", cwd=repository.path, **variables).returncode == 0
    assert {path for path in repository.path.rglob("*") if ".git" not in path.parts} == before
    assert [*home.iterdir(), *temporary.iterdir()] == []


def test_a_work_tree_elsewhere_hides_nothing(
    tmp_path: Path, repository: Repository, porter: Porter
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    repository.write("train.py", b"import torch\n")
    repository.commit()
    repository.git("config", "core.worktree", str(elsewhere))
    (repository.path / "train.py").write_bytes(b"import torch\nx = y.cuda()\n")
    for arguments in (["--diff-base", "HEAD"], ["--all", "."]):
        done = porter("check", *arguments, cwd=repository.path)
        assert done.returncode == 1
        assert b"train.py:2" in done.stdout
    assert [*elsewhere.iterdir()] == []
