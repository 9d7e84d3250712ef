from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import porter
import porter_runtime
from porter import vendor

SHIM = Path(porter_runtime.__file__).parent


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "axolotl"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_the_copy_is_complete_and_states_its_version(package: Path) -> None:
    copy = vendor.vendor(package)
    assert copy.folder == package / "_accel"
    assert copy.version == porter.__version__ == porter_runtime.__version__
    assert not copy.edited
    assert not copy.outdated
    names = {path.name for path in SHIM.iterdir() if path.is_file()}
    assert set(contents(copy.folder)) == names
    for name, data in contents(copy.folder).items():
        original = (SHIM / name).read_bytes()
        assert data.endswith(original)
        if name.endswith(".py"):
            assert data.startswith(f"# porter_runtime {porter.__version__}, copied".encode())
    assert vendor.find(package) == copy


def test_the_copy_works_alone_under_another_import_path(package: Path) -> None:
    vendor.vendor(package)
    source = (
        "from axolotl import _accel as accel\n"
        "from axolotl._accel import autocast, GradScaler as GS\n"
        "import sys, torch\n"
        "assert accel.__doc__.startswith('torch.cuda')\n"
        "accel.synchronize()\n"
        "with accel.stream(accel.Stream()), autocast(enabled=False):\n"
        "    pass\n"
        "assert not GS(enabled=False).is_enabled()\n"
        "try:\n"
        "    accel.cudart\n"
        "except AttributeError as error:\n"
        "    assert str(error).startswith('axolotl._accel leaves out torch.cuda.cudart: ')\n"
        "assert not [name for name in sys.modules if name.startswith('porter')]\n"
        "print(accel.device_type, accel.GradScaler.__module__)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "PORTER_DEVICE": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", source],
        cwd=package.parent,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["cpu", "axolotl._accel"], done.stderr


def test_a_second_time_changes_nothing(package: Path) -> None:
    copy = vendor.vendor(package)
    (copy.folder / "__pycache__").mkdir()
    before = contents(copy.folder)
    assert vendor.vendor(package) == vendor.update(package) == copy
    assert contents(copy.folder) == before


def make_older(folder: Path) -> None:
    """Turn a copy into an unedited one of an older version."""
    names = folder / "_names.py"
    old_hash = vendor._hash(vendor._body(names))
    names.write_bytes(names.read_bytes() + b"# older\n")
    start = folder / "__init__.py"
    text = start.read_text().replace(old_hash, vendor._hash(vendor._body(names)))
    start.write_text(text.replace(f"porter_runtime {porter.__version__},", "porter_runtime 0.0.1,"))


def test_update_refreshes_an_older_copy(package: Path) -> None:
    copy = vendor.vendor(package)
    fresh = contents(copy.folder)
    make_older(copy.folder)
    found = vendor.find(package)
    assert found is not None
    assert (found.version, found.edited, found.outdated) == ("0.0.1", (), True)
    assert vendor.vendor(package) == found
    assert vendor.update(package).version == porter.__version__
    assert contents(copy.folder) == fresh


@pytest.mark.parametrize("edit", ["changed", "added", "removed"])
def test_edits_are_found_and_kept_until_forced(edit: str, package: Path) -> None:
    copy = vendor.vendor(package)
    fresh = contents(copy.folder)
    file = copy.folder / "_cpu.py"
    if edit == "changed":
        file.write_bytes(file.read_bytes() + b"\n\ndef device_count() -> int:\n    return 1\n")
    elif edit == "added":
        file = copy.folder / "mine.py"
        file.write_bytes(b"")
    else:
        file.unlink()
    edited = contents(copy.folder)
    found = vendor.find(package)
    assert found is not None
    assert file.name in found.edited
    with pytest.raises(vendor.EditedError, match=file.name.replace(".", r"\.")) as raised:
        vendor.update(package)
    assert file.name in raised.value.files
    assert contents(copy.folder) == edited
    assert vendor.update(package, force=True).edited == ()
    assert contents(copy.folder) == fresh


def test_newlines_that_git_changed_are_no_edit(package: Path) -> None:
    copy = vendor.vendor(package)
    for path in copy.folder.iterdir():
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert vendor.find(package) == copy


def test_something_else_of_that_name_is_left_alone(package: Path) -> None:
    folder = package / "_accel"
    folder.mkdir()
    (folder / "__init__.py").write_text("mine = 1\n")
    for action in (vendor.vendor, vendor.update, vendor.find):
        with pytest.raises(vendor.VendorError, match="no copy of the shim"):
            action(package)
    assert contents(folder) == {"__init__.py": b"mine = 1\n"}


def test_a_missing_folder_or_copy_says_what_to_do(package: Path) -> None:
    with pytest.raises(vendor.VendorError, match="is no folder"):
        vendor.vendor(package / "nowhere")
    with pytest.raises(vendor.VendorError, match="porter vendor"):
        vendor.update(package)
    assert vendor.find(package) is None


def test_neither_torch_nor_the_shim_is_imported(package: Path) -> None:
    source = (
        "import sys\nfrom pathlib import Path\nfrom porter import vendor\n"
        f"vendor.vendor(Path({str(package)!r}))\n"
        "print('torch' in sys.modules, 'porter_runtime' in sys.modules)\n"
    )
    root = Path(porter.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(SHIM.parent)])}
    done = subprocess.run(
        [sys.executable, "-c", source], env=environment, capture_output=True, text=True
    )
    assert done.stdout.split() == ["False", "False"], done.stderr
