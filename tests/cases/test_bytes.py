"""Reports and traps about bytes, and about files that can't be read (D48 to D51, T58 to T60).

What they say of exit codes and of dry runs (D49, D51, D55) goes through the command line.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from porter.engine import rewrite_source
from porter.model import Level

ROOT = Path(__file__).parents[2]

KEPT = [
    pytest.param(
        b"import torch\r\nx = torch.zeros(1).cuda()\r\ny = 1",
        b"import torch\r\nimport porter_runtime as accel\r\n"
        b"x = torch.zeros(1).to(accel.device_type)\r\ny = 1",
        id="D48 CRLF and no newline at the end",
    ),
    pytest.param(
        b"import torch\nx = torch.stack(  # cuda\r\n    [t.cuda()],\r\n)\ny = 1\r\n",
        b"import torch\nimport porter_runtime as accel\nx = torch.stack(  # cuda\r\n"
        b"    [t.to(accel.device_type)],\r\n)\ny = 1\r\n",
        id="D48 mixed line ends",
    ),
    pytest.param(
        b"import torch\rx = torch.zeros(1).cuda()\ry = 1\r",
        b"import torch\rimport porter_runtime as accel\r"
        b"x = torch.zeros(1).to(accel.device_type)\ry = 1\r",
        id="D48 CR alone",
    ),
    pytest.param(b"import torch\rx = 1\r", None, id="D48 CR alone, nothing to port"),
    pytest.param(
        b"\xef\xbb\xbfimport torch\nx = torch.zeros(1).cuda()\n",
        b"\xef\xbb\xbfimport torch\nimport porter_runtime as accel\n"
        b"x = torch.zeros(1).to(accel.device_type)\n",
        id="D49 byte order mark",
    ),
    pytest.param(
        b"# -*- coding: gbk -*-\n# \xc4\xe3\xba\xc3\nimport torch\nd = '\xc4\xe3', x.cuda()\n",
        b"# -*- coding: gbk -*-\n# \xc4\xe3\xba\xc3\nimport torch\nimport porter_runtime as accel\n"
        b"d = '\xc4\xe3', x.to(accel.device_type)\n",
        id="D49 GBK by its cookie",
    ),
    pytest.param(
        b"#!/usr/bin/env python\n# vim: set fileencoding=latin-1 :\nname = 'caf\xe9'; x.cuda()\n",
        b"#!/usr/bin/env python\n# vim: set fileencoding=latin-1 :\n"
        b"import porter_runtime as accel\nname = 'caf\xe9'; x.to(accel.device_type)\n",
        id="D49 Latin-1 by its cookie",
    ),
    pytest.param(
        "import torch\nfarbe = 'grün', x.cuda(), 'größer'  # über cuda\n".encode(),
        "import torch\nimport porter_runtime as accel\n"
        "farbe = 'grün', x.to(accel.device_type), 'größer'  # über cuda\n".encode(),
        id="T59 letters beyond ASCII before and behind the site",
    ),
    pytest.param(
        b"\xef\xbb\xbfimport torch\r\nif a:\r\n\tx\t=\tx.cuda()\r\n\x0c\r\n\ty = x.is_cuda",
        b"\xef\xbb\xbfimport torch\r\nimport porter_runtime as accel\r\n"
        b"if a:\r\n\tx\t=\tx.to(accel.device_type)\r\n\x0c\r\n\ty = accel.is_accelerator(x)",
        id="T59 byte order mark, CRLF, tabs, form feed, no newline at the end",
    ),
    pytest.param(
        b"import torch \nx = [ x.cuda( ) ,\n\n   x.cuda(1  ) ]   \n\n\n",
        b"import torch \nimport porter_runtime as accel\n"
        b"x = [ x.to( accel.device_type) ,\n\n   x.to(accel.torch_device(1)  ) ]   \n\n\n",
        id="T59 blanks in odd places",
    ),
]


@pytest.mark.parametrize(("before", "after"), KEPT)
def test_bytes_outside_the_sites_are_kept(before: bytes, after: bytes | None) -> None:
    result = rewrite_source(before)
    assert result.output == (before if after is None else after)
    assert rewrite_source(result.output).output == result.output


UNREADABLE = [
    pytest.param(b"# one\n# two\n# caf\xe9\nx.cuda()\n", 3, "byte 17", id="D49 not UTF-8"),
    pytest.param(b"# caf\xe9\nx.cuda()\n", 1, "byte 5", id="D49 not UTF-8 where a cookie could be"),
    pytest.param(b"x.cuda()\ns = 'caf\xe9'\n", 2, "byte 17", id="D49 not UTF-8 on line 2"),
    pytest.param(b"# coding: klingon\nx.cuda()\n", 1, "klingon", id="D49 unknown cookie"),
    pytest.param(b"x = x.cuda(async=True)\n", 1, "non_blocking", id="D51 async is a keyword"),
    pytest.param(b"x.cuda()\nprint 'done'\n", 2, "Python 2", id="T58 a print statement"),
    pytest.param(b"try: x.cuda()\nexcept E, e: pass\n", 2, "Python 2", id="T58 the old except"),
    pytest.param(b"{% if gpu %}\nx.cuda()\n{% endif %}\n", 1, "parsed", id="T62 a template"),
    pytest.param(b"x.cuda()\n\0", 1, "null", id="T58 a null byte"),
]


@pytest.mark.parametrize(("data", "line", "word"), UNREADABLE)
def test_a_file_that_cannot_be_read_stays_and_is_reported(
    data: bytes, line: int, word: str
) -> None:
    result = rewrite_source(data)
    assert result.output == data
    (finding,) = result.findings
    assert (finding.level, finding.line) == (Level.ERROR, line)
    assert word in finding.message


NEW_SYNTAX = b"""\
type Place = str
def put[T](x: T, i: int) -> T:
    match i:
        case 0 if (n := torch.cuda.device_count()) > 0:
            print(f"on {f"cuda:{i}"} of {n}")
    return x.cuda(i)
"""


def test_new_syntax_is_ported_by_a_python_that_knows_it() -> None:
    """D50."""
    result = rewrite_source(NEW_SYNTAX)
    if sys.version_info < (3, 12):
        assert result.output == NEW_SYNTAX
        (finding,) = result.findings
        assert finding.level is Level.ERROR
        assert "newer Python" in finding.message
        return
    ported = NEW_SYNTAX.replace(b"torch.cuda.device_count()", b"accel.device_count()")
    ported = ported.replace(b"x.cuda(i)", b"x.to(accel.torch_device(i))")
    assert result.output == b"import porter_runtime as accel\n" + ported


def test_a_large_file_is_ported_site_by_site() -> None:
    """T60: 300 kB with a site in every hundredth line; without a site nothing is even parsed."""
    rows = [f"x{n} = f(x, {n}, 'some text to fill the line')\n" for n in range(6000)]
    plain = "".join(rows).encode()
    assert rewrite_source(plain).output is plain
    rows[::100] = [f"x{n} = x.cuda({n})\n" for n in range(60)]
    ported = list(rows)
    ported[::100] = [f"x{n} = x.to(accel.torch_device({n}))\n" for n in range(60)]
    result = rewrite_source(("import torch\n" + "".join(rows)).encode())
    head = "import torch\nimport porter_runtime as accel\n"
    assert result.output.decode() == head + "".join(ported)


def porter(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run porter's command line."""
    paths = os.pathsep.join(str(ROOT / part) for part in (".", "rules", "runtime"))
    return subprocess.run(
        [sys.executable, "-m", "porter", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("environment", [{}, {"PYTHONUTF8": "0", "LC_ALL": "C"}], ids=["", "C"])
def test_one_bad_file_stops_no_other(tmp_path: Path, environment: dict[str, str]) -> None:
    """D49, D51: whatever the locale, the others are ported, and the exit code tells."""
    files = {
        "bom.py": b"\xef\xbb\xbfx = x.cuda()  # \xc3\xbc\n",
        "gbk.py": b"# coding: gbk\n# \xc4\xe3\nx = x.cuda()\n",
        "invalid.py": b"#\n#\n# caf\xe9\nx = x.cuda()\n",
        "new.py": b"x = x.cuda()\n",
        "old.py": b"x = x.cuda(async=True)\n",
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    done = porter("rewrite", ".", cwd=tmp_path, **environment)
    assert done.returncode == 2
    after = {name: (tmp_path / name).read_bytes() for name in files}
    site = b"x = x.to(accel.device_type)"
    assert after["new.py"] == b"import porter_runtime as accel\n" + site + b"\n"
    assert after["bom.py"].startswith(b"\xef\xbb\xbfimport")
    assert after["bom.py"].endswith(site + b"  # \xc3\xbc\n")
    assert after["gbk.py"].startswith(b"# coding: gbk\n")
    assert after["gbk.py"].endswith(site + b"\n")
    assert (after["old.py"], after["invalid.py"]) == (files["old.py"], files["invalid.py"])
    told = done.stdout.decode("utf-8", "replace")
    assert "old.py:1:12: PTR000" in told
    assert "invalid.py:3:1: PTR000 not UTF-8 at byte 9" in told
    assert "2 files could not be processed" in told


def git(*arguments: str, cwd: Path, data: bytes | None = None) -> bytes:
    identity = ("-c", "user.name=Tester", "-c", "user.email=tester@example.org")
    command = ["git", *identity, *arguments]
    return subprocess.run(command, cwd=cwd, input=data, capture_output=True, check=True).stdout


def test_a_dry_run_shows_the_patch_and_a_second_run_nothing(tmp_path: Path) -> None:
    """D55."""
    before = b"import torch\nz = torch.cat([a.cuda(), torch.zeros(2, device='cuda')]).cuda(1)\n"
    file = tmp_path / "train.py"
    file.write_bytes(before)
    git("init", "-q", cwd=tmp_path)
    git("add", "-A", cwd=tmp_path)
    git("commit", "-q", "-m", "state", cwd=tmp_path)
    dry = porter("rewrite", ".", "--dry-run", cwd=tmp_path)
    assert file.read_bytes() == before
    assert porter("rewrite", ".", cwd=tmp_path).returncode == 0
    after = file.read_bytes()
    assert after != before
    git("checkout", "-q", "--", ".", cwd=tmp_path)
    git("apply", cwd=tmp_path, data=dry.stdout)
    assert file.read_bytes() == after
    git("commit", "-q", "-a", "-m", "port", cwd=tmp_path)
    again = porter("rewrite", ".", "--dry-run", cwd=tmp_path)
    assert (again.returncode, again.stdout) == (0, b"")
