"""`--fix` is porter's rewrite of what was flagged, and of nothing else."""

from __future__ import annotations

from pathlib import Path

from tests.check.conftest import Flagged
from tests.cli.harness import Porter, Repository

OLD = b"import torch\nold = x.cuda()\n"


def test_only_what_was_flagged_is_ported(repository: Repository, porter: Porter) -> None:
    path = repository.write("a.py", OLD)
    repository.commit()
    repository.write("a.py", OLD + b"new = [y.cuda(), 'cuda']\nh = torch.cuda.cudart()\n")
    repository.git("add", "-A")
    index = (repository.path / ".git/index").read_bytes()
    result = porter("check", "--fix")
    assert result.code == 1
    assert b"a.py:4:5: PTR202" in result.out
    assert b"PTR101" not in result.out
    assert b"1 finding fixed" in result.out
    assert path.read_bytes() == (
        b"import torch\nimport porter_runtime as accel\nold = x.cuda()\n"
        b"new = [y.to(accel.device_type), 'cuda']\nh = torch.cuda.cudart()\n"
    )
    assert (repository.path / ".git/index").read_bytes() == index


def test_a_fix_that_is_not_staged_yet_does_not_let_the_commit_through(
    repository: Repository, porter: Porter
) -> None:
    repository.write("a.py", b"import torch\nx.cuda()\n")
    repository.git("add", "-A")
    result = porter("check", "--fix")
    assert result.code == 1
    assert b"stage them" in result.out
    repository.git("add", "-A")
    assert porter("check", "--staged").code == 0


def test_everything_fixed_is_clean(folder: Path, porter: Porter) -> None:
    path = folder / "a.py"
    path.write_bytes(b"import torch\r\nx.cuda()\r\n")
    result = porter("check", "--all", "--fix", "a.py")
    assert result.code == 0
    assert b"x.to(accel.device_type)\r\n" in path.read_bytes()


def test_changes_that_are_not_staged_are_in_the_way(repository: Repository, porter: Porter) -> None:
    path = repository.write("a.py", b"import torch\nx.cuda()\n")
    repository.git("add", "-A")
    path.write_bytes(b"import torch\nx.cuda()\ny.cuda()\n")
    result = porter("check", "--fix")
    assert result.code == 2
    assert b"a.py:2:1: PTR101" in result.out
    assert b"not staged" in result.out
    assert path.read_bytes() == b"import torch\nx.cuda()\ny.cuda()\n"


def test_line_ends_that_git_converts_are_no_changes(repository: Repository, porter: Porter) -> None:
    repository.git("config", "core.autocrlf", "true")
    path = repository.write("a.py", b"import torch\r\nx.cuda()\r\n")
    repository.git("add", "-A")
    assert porter("check", "--fix").code == 1
    assert path.read_bytes() == (
        b"import torch\r\nimport porter_runtime as accel\r\nx.to(accel.device_type)\r\n"
    )


def test_what_belongs_to_an_old_site_is_left(repository: Repository, porter: Porter) -> None:
    old = b'import torch\nimport torch.distributed as dist\nbackend = "nccl"\n'
    path = repository.write("a.py", old)
    repository.commit()
    new = old + b'if backend == "nccl":\n    dist.init_process_group(backend)\n'
    path.write_bytes(new)
    repository.git("add", "-A")
    result = porter("check", "--fix")
    assert result.code == 1
    assert b"a.py:4:4: PTR5" in result.out
    assert path.read_bytes() == new


def test_the_baseline_is_not_touched(folder: Path, porter: Porter, flagged: Flagged) -> None:
    path = folder / "a.py"
    path.write_bytes(b"import torch\nx.cuda()\n")
    porter("check", "--baseline", "base.json", "--write-baseline")
    path.write_bytes(b"import torch\nx.cuda()\ny.cuda()\n")
    assert porter("check", "--baseline", "base.json", "--fix").code == 0
    assert path.read_bytes().splitlines()[-2:] == [b"x.cuda()", b"y.to(accel.device_type)"]


def test_a_vendored_shim_is_copied_and_imported(folder: Path, porter: Porter) -> None:
    (folder / "package").mkdir()
    (folder / "package/__init__.py").touch()
    (folder / "package/a.py").write_bytes(b"import torch\nx.cuda()\n")
    (folder / "pyproject.toml").write_text('[tool.porter]\nvendor = "package"\n')
    assert porter("check", "--all").code == 1
    assert not (folder / "package/_accel").exists()
    assert porter("check", "--all", "--fix").code == 0
    assert b"from package import _accel as accel\n" in (folder / "package/a.py").read_bytes()
    assert (folder / "package/_accel").is_dir()
    assert porter("check", "--all").code == 0


def test_a_file_that_cannot_be_written(folder: Path, porter: Porter) -> None:
    path = folder / "a.py"
    path.write_bytes(b"import torch\nx.cuda()\n")
    path.chmod(0o444)
    result = porter("check", "--all", "--fix")
    assert result.code == 2
    assert b"read-only" in result.out
    assert path.read_bytes() == b"import torch\nx.cuda()\n"
