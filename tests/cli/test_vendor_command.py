from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from porter import vendor
from tests.cli.harness import Porter, Repository
from tests.cli.samples import PORTED, SITE

SHIM_IMPORT = b"from axolotl import _accel as accel"
VENDORED = PORTED.replace(b"import porter_runtime as accel", SHIM_IMPORT)


@pytest.fixture
def package(repository: Repository) -> Path:
    """Return a package in a src layout, committed."""
    init = repository.write("src/axolotl/__init__.py")
    repository.write("src/axolotl/core/__init__.py")
    repository.write("src/axolotl/train.py", SITE)
    repository.commit()
    return init.parent


def test_ported_code_imports_the_copy(
    repository: Repository, porter: Porter, package: Path
) -> None:
    done = porter("rewrite", ".", "--vendor", "src/axolotl")
    assert done.code == 0
    assert (package / "train.py").read_bytes() == VENDORED
    copy = vendor.find(package)
    assert copy is not None
    assert not copy.edited
    script = "from axolotl import train; import torch; print(train.f(torch.ones(1)).tolist())"
    answer = subprocess.run(
        [sys.executable, "-c", script], cwd=repository.path / "src", capture_output=True, check=True
    )
    assert answer.stdout == b"[1.0]\n"


def test_a_second_run_leaves_copy_and_code(
    repository: Repository, porter: Porter, package: Path
) -> None:
    porter("rewrite", ".", "--vendor", "src/axolotl")
    repository.commit()
    done = porter("rewrite", ".", "--vendor", "src/axolotl")
    assert done.out.endswith(b"0 changed\n0 sites rewritten\n")
    assert repository.git("status", "--porcelain") == b""


def test_an_inner_package_is_named_in_full(
    repository: Repository, porter: Porter, package: Path
) -> None:
    porter("rewrite", ".", "--vendor", "src/axolotl/core")
    ported = (package / "train.py").read_bytes()
    assert b"\nfrom axolotl.core import _accel as accel\n" in ported


def test_the_configured_folder_is_relative_to_the_configuration(
    repository: Repository, porter: Porter, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("pyproject.toml", b'[tool.porter]\nvendor = "src/axolotl"\n')
    repository.commit()
    monkeypatch.chdir(package)
    assert porter("rewrite", ".").code == 0
    assert (package / "train.py").read_bytes() == VENDORED
    assert vendor.find(package) is not None


def test_a_dry_run_copies_nothing(repository: Repository, porter: Porter, package: Path) -> None:
    done = porter("rewrite", "--dry-run", ".", "--vendor", "src/axolotl")
    assert b"+" + SHIM_IMPORT + b"\n" in done.out
    assert "the shim would be copied into src/axolotl\n" in done.err
    assert repository.git("status", "--porcelain") == b""


def test_without_a_site_nothing_is_copied(
    repository: Repository, porter: Porter, package: Path
) -> None:
    (package / "train.py").write_bytes(b"")
    porter("rewrite", "--allow-dirty", ".", "--vendor", "src/axolotl")
    assert vendor.find(package) is None


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        ("src", "src is no package"),
        ("missing", "missing is no folder"),
        ("src/axolotl/train.py", "train.py is no folder"),
        ("bad-name", "'bad-name' is no identifier"),
    ],
)
@pytest.mark.parametrize("command", [["vendor"], ["rewrite", ".", "--vendor"]], ids=" ".join)
def test_what_is_no_package_is_refused(
    repository: Repository,
    porter: Porter,
    package: Path,
    command: list[str],
    folder: str,
    message: str,
) -> None:
    repository.write("bad-name/__init__.py")
    repository.commit()
    done = porter(*command, folder)
    assert (done.code, done.out) == (2, b"")
    assert message in done.err
    assert repository.git("status", "--porcelain") == b""


def test_nothing_is_ported_when_the_copy_fails(
    repository: Repository, porter: Porter, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(target: Path) -> vendor.Copy:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(vendor, "vendor", full)
    done = porter("rewrite", ".", "--vendor", "src/axolotl")
    assert done.code == 2
    assert "No space left on device" in done.err
    assert (package / "train.py").read_bytes() == SITE


def test_vendor_copies_and_says_how_to_import(
    repository: Repository, porter: Porter, package: Path
) -> None:
    done = porter("vendor", "src/axolotl")
    assert done.code == 0
    copy = vendor.find(Path("src/axolotl"))
    assert copy is not None
    expected = f"porter_runtime {copy.version} copied to {copy.folder}: {SHIM_IMPORT.decode()}\n"
    assert done.out.decode() == expected
    assert b" is in " in porter("vendor", "src/axolotl").out


def test_update_keeps_edits_unless_forced(
    repository: Repository, porter: Porter, package: Path
) -> None:
    assert porter("vendor", "src/axolotl", "--update").code == 2
    porter("vendor", "src/axolotl")
    edited = package / "_accel/_cpu.py"
    edited.write_bytes(edited.read_bytes() + b"# mine\n")
    assert "edited since: _cpu.py" in porter("vendor", "src/axolotl").err
    refused = porter("vendor", "src/axolotl", "--update")
    assert refused.code == 2
    assert "_cpu.py" in refused.err
    assert edited.read_bytes().endswith(b"# mine\n")
    assert porter("vendor", "src/axolotl", "--force").code == 2
    assert porter("vendor", "src/axolotl", "--update", "--force").code == 0
    assert not edited.read_bytes().endswith(b"# mine\n")


def test_a_copy_that_is_there_is_used_unasked(
    repository: Repository, porter: Porter, package: Path
) -> None:
    porter("rewrite", ".", "--vendor", "src/axolotl")
    late = repository.write("src/axolotl/late.py", SITE)
    done = porter("rewrite", ".", "--allow-dirty")
    assert done.code == 0
    assert late.read_bytes() == VENDORED
    fixed = repository.write("src/axolotl/later.py", SITE)
    assert porter("check", "--all", "--fix", "src/axolotl/later.py").code == 0
    assert fixed.read_bytes() == VENDORED


def test_of_two_copies_the_configuration_has_to_say_which(
    repository: Repository, porter: Porter, package: Path
) -> None:
    porter("rewrite", ".", "--vendor", "src/axolotl")
    porter("vendor", "src/axolotl/core")
    late = repository.write("src/axolotl/late.py", SITE)
    porter("rewrite", ".", "--allow-dirty")
    assert late.read_bytes() == PORTED
    repository.write("pyproject.toml", b'[tool.porter]\nvendor = "src/axolotl/core"\n')
    late.write_bytes(SITE)
    porter("rewrite", ".", "--allow-dirty")
    assert b"from axolotl.core import _accel as accel" in late.read_bytes()


def test_something_else_of_the_copys_name_is_none(
    repository: Repository, porter: Porter, package: Path
) -> None:
    repository.write("src/axolotl/_accel/__init__.py", b"FAST = True\n")
    repository.commit()
    porter("rewrite", ".")
    assert (package / "train.py").read_bytes() == PORTED
