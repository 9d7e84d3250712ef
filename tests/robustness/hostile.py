"""A repository that tries to be run, and files that no walk expects."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

from tests.cli.harness import Repository
from tests.cli.samples import SITE

MODULES = (
    "sitecustomize usercustomize conftest setup torch torch_npu libcst click tomli tomllib ast "
    "tokenize json difflib subprocess pathlib typing porter_runtime_extra rich filelock numpy"
).split()
PACKAGES = ("porter_rules", "porter_runtime", "porter", "libcst/metadata")


def plant(repository: Repository, tripwire: Path) -> None:
    """Fill a repository with modules that touch `tripwire` when they are run, and with a site."""
    code = f"open({str(tripwire)!r}, 'a').write(__name__)\n".encode()
    for name in MODULES:
        repository.write(f"{name}.py", code + SITE)
    for name in PACKAGES:
        repository.write(f"{name}/__init__.py", code)
        repository.write(f"{name}/tensor_cuda.py", code)
    repository.write("evil.pth", f"import os; os.system('touch {tripwire}')\n".encode())
    repository.write("setup.cfg", b"[metadata]\nname = evil\n")
    repository.write("train.py", SITE)


def arm_git(repository: Repository, tripwire: Path) -> None:
    """Let git's configuration name a program wherever it may: each touches `tripwire`."""
    program = repository.path / ".git" / "program"
    program.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{tripwire}'\ncat\n")
    program.chmod(0o755)
    hooks = repository.path / ".git" / "hooks-of-the-repository"
    hooks.mkdir()
    for name in ("post-index-change", "pre-commit", "post-checkout", "reference-transaction"):
        (hooks / name).symlink_to(program)
    for key, value in {
        "core.fsmonitor": program,
        "core.hooksPath": hooks,
        "core.pager": program,
        "core.editor": program,
        "core.sshCommand": program,
        "core.askPass": program,
        "core.alternateRefsCommand": program,
        "pager.diff": program,
        "pager.status": program,
        "diff.external": program,
        "diff.evil.command": program,
        "diff.evil.textconv": program,
        "diff.evil.cachetextconv": "false",
        "merge.evil.driver": program,
        "filter.evil.clean": program,
        "filter.evil.smudge": program,
        "filter.evil.required": "true",
        "credential.helper": f"!{program}",
        "gpg.program": program,
        "alias.status": f"!{program}",
        "alias.ls-files": f"!{program}",
        "status.submoduleSummary": "true",
        "diff.submodule": "diff",
    }.items():
        repository.git("config", key, str(value))
    (repository.path / ".git/info").mkdir(exist_ok=True)
    (repository.path / ".git/info/attributes").write_text("* diff=evil merge=evil filter=evil\n")


def odd_files(folder: Path, outside: Path) -> set[str]:
    """Put what is no plain file, and plain files with odd names, into a folder.

    Returns:
        The names of the files that are Python and have a site.
    """
    (folder / "out.py").symlink_to(outside / "target.py")
    (folder / "out").symlink_to(outside)
    (folder / "loop").symlink_to(folder)
    (folder / "self.py").symlink_to("self.py")
    (folder / "one.py").symlink_to("two.py")
    (folder / "two.py").symlink_to("one.py")
    (folder / "nothing.py").symlink_to("no-such-file.py")
    (folder / "null.py").symlink_to("/dev/null")
    (folder / "up.py").symlink_to("../../../../../../../../etc/passwd")
    os.mkfifo(folder / "fifo.py")
    with socket.socket(socket.AF_UNIX) as made:
        here = Path.cwd()
        os.chdir(folder)  # the path of a socket may have some hundred bytes at most
        try:
            made.bind("socket.py")
        finally:
            os.chdir(here)
    (folder / "folder.py").mkdir()
    names = {"a\nb.py", "a\rb.py", "\x1b[31mred.py", "-rf.py", "--help.py", " .py", "a\\b.py"}
    names |= {"*.py", ":(top)x.py", "\u202egnp.py", os.fsdecode(b"\xff\xfe.py"), "'\"$(touch x).py"}
    names |= {"n" * 240 + ".py", ".hidden.py"}
    for name in names:
        (folder / name).write_bytes(SITE)
    return names


def snapshot(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return what is below a folder: mode, time of change and content, links as they are."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            content = os.fsencode(path.readlink())
        elif stat.S_ISREG(status.st_mode):
            content = path.read_bytes()
        else:
            content = b""
        modified = 0 if stat.S_ISDIR(status.st_mode) else status.st_mtime_ns
        found[str(path.relative_to(folder))] = (status.st_mode, modified, content)
    return found
