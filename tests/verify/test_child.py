"""What is put into the processes of the verified command changes nothing for them."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import porter.verify
from tests.verify.conftest import train
from tests.verify.programs import PORT

SITE = Path(porter.verify.__file__).parent / "site"


@pytest.mark.parametrize("path", sorted(SITE.rglob("*.py")), ids=lambda path: path.name)
def test_it_is_written_in_python_3_8(path: Path) -> None:
    ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))


def child(folder: Path, program: str, *path: Path, watched: bool = True) -> str:
    """Runs a program as a child with other folders on its path, and returns what it prints."""
    settings = {"journal": str(folder), "root": str(folder), "trap": True, "steps": 0}
    env = {**os.environ, "PORTER_VERIFY": json.dumps(settings), "PYTHONDONTWRITEBYTECODE": "1"}
    folders = [SITE, *path] if watched else [*path]
    env["PYTHONPATH"] = os.pathsep.join(map(str, folders))
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=env,
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


def test_the_sitecustomize_that_it_hides_is_run(tmp_path: Path) -> None:
    users = tmp_path / "users"
    users.mkdir()
    (users / "sitecustomize.py").write_text("import builtins\nbuiltins.SEEN = __file__\nX = 1\n")
    program = "import sitecustomize; print(SEEN, sitecustomize.X)"
    assert child(tmp_path, program, users) == f"{users / 'sitecustomize.py'} 1\n"


def test_a_broken_sitecustomize_is_reported_as_without(tmp_path: Path) -> None:
    users = tmp_path / "users"
    users.mkdir()
    (users / "sitecustomize.py").write_text("raise ValueError('broken')\n")
    settings = {"journal": str(tmp_path), "root": str(tmp_path), "trap": True, "steps": 0}
    env = {**os.environ, "PORTER_VERIFY": json.dumps(settings)}
    errors = []
    for folders in ([users], [SITE, users]):
        env["PYTHONPATH"] = os.pathsep.join(map(str, folders))
        done = subprocess.run(
            [sys.executable, "-c", "print('on')"], env=env, capture_output=True, text=True
        )
        assert done.stdout == "on\n"
        errors.append(done.stderr)
    assert errors[0] == errors[1]
    assert "ValueError: broken" in errors[0]


def test_processes_without_torch_import_next_to_nothing(tmp_path: Path) -> None:
    program = "import sys; print(*sorted(sys.modules))"
    plain, watched = (
        set(child(tmp_path, program, watched=watched).split()) for watched in (False, True)
    )
    assert "torch" not in watched
    ours = {name for name in watched - plain if name.startswith("porter_watch")}
    assert ours == {"porter_watch", "porter_watch.imports", "porter_watch.settings"}
    assert list(tmp_path.glob("*.jsonl")) == []


def test_torch_keeps_its_loader(tmp_path: Path) -> None:
    program = (
        "import sys, torch; print(type(torch.__loader__).__name__, vars(torch.__loader__).keys())"
    )
    watched, plain = (child(tmp_path, program, watched=watched) for watched in (True, False))
    assert watched == plain


def test_a_failing_watcher_never_reaches_the_program(tmp_path: Path) -> None:
    """Its folder is gone: nothing can be written."""
    program = PORT + "import os\nprint('done')\n"
    settings = "json.loads(os.environ['PORTER_VERIFY'])"
    first = f"import os, json, shutil\nshutil.rmtree({settings}['journal'])\n"
    run = train(tmp_path / "port", first + program)
    assert run.exit_code == 0
    assert run.tail[-1] == "done"
    assert run.status == "no-steps"


@pytest.mark.slow
def test_programs_that_close_all_descriptors(tmp_path: Path) -> None:
    closes = "import os\nos.closerange(3, 256)\nfile = open('own.txt', 'w')\n"
    run = train(tmp_path / "port", PORT.replace("for step", closes + "for step", 1))
    assert run.status == "trained", run.tail
    assert (tmp_path / "port" / "own.txt").read_text() == ""


def test_nothing_is_left(tmp_path: Path) -> None:
    """No file beside the program, nothing in the environment, no folder, no process."""
    folder, temporary = tmp_path / "port", tmp_path / "tmp"
    temporary.mkdir()
    folder.mkdir()
    (folder / "helper.py").write_text("VALUE = 1\n")
    before = dict(os.environ)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(temporary))
        run = train(folder, "import helper\n" + PORT)
    assert run.status == "trained", run.tail
    assert sorted(path.name for path in folder.iterdir()) == ["helper.py", "train.py"]
    assert list(temporary.iterdir()) == []
    assert dict(os.environ) == before


@pytest.mark.slow
def test_code_in_a_virtual_environment_below_the_folder_is_not_the_users(tmp_path: Path) -> None:
    folder = tmp_path / "port"
    folder.mkdir()
    made = folder / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", made], check=True)
    (packages,) = made.glob("lib/python3*/site-packages")
    (packages / "helper.py").write_text("import torch\nASKED = torch.cuda.is_available()\n")
    (packages / "outside.pth").write_text(
        "\n".join(entry for entry in sys.path if entry.endswith("-packages"))
    )
    run = train(
        folder,
        "import torch\nimport helper\ntorch.cuda.empty_cache()\n" + PORT,
        command=[str(made / "bin" / "python"), "train.py"],
    )
    shutil.rmtree(made)
    assert run.status == "trained", run.tail
    assert [(t.path, t.line, t.name) for t in run.trapped] == [
        ("train.py", 3, "torch.cuda.empty_cache")
    ]
