from __future__ import annotations

import pytest

from tests.cli.harness import Porter, Repository
from tests.cli.samples import MANUAL, PORTED, SITE


def test_ports_in_place_and_sums_up(repository: Repository, porter: Porter) -> None:
    site = repository.write("src/site.py", SITE)
    other = repository.write("src/plain.py", b"print('hello')\n")
    repository.commit()
    done = porter("rewrite", "src")
    assert done.code == 0
    assert site.read_bytes() == PORTED
    assert other.read_bytes() == b"print('hello')\n"
    assert done.out.decode() == "2 files scanned, 1 changed\n1 site rewritten\n"
    assert done.err == ""


def test_a_second_run_changes_nothing(repository: Repository, porter: Porter) -> None:
    site = repository.write("site.py", SITE)
    repository.commit()
    porter("rewrite", ".")
    repository.commit()
    before = site.stat()
    done = porter("rewrite", ".")
    assert b"1 file scanned, 0 changed" in done.out
    assert (site.stat().st_mtime_ns, site.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


def test_what_is_left_is_listed_with_its_place(repository: Repository, porter: Porter) -> None:
    repository.write("manual.py", MANUAL)
    repository.commit()
    done = porter("rewrite", "manual.py")
    first, *summary = done.out.decode().splitlines()
    place, code, message = first.split(" ", 2)
    assert place == "manual.py:3:10:"
    assert code.startswith("PTR")
    assert message
    assert summary[-1] == f"1 site left to you: {code} 1"
    assert done.code == 0


def test_verbose_lists_the_rewritten_sites(repository: Repository, porter: Porter) -> None:
    repository.write("site.py", SITE)
    repository.commit()
    first = porter("rewrite", "-v", "--dry-run", ".").err.splitlines()[0]
    assert first.startswith("site.py:5:12: PTR101 ")
    assert first.endswith("x.to(accel.device_type)")


def test_exclude_and_select(repository: Repository, porter: Porter) -> None:
    kept = repository.write("tests/a.py", SITE)
    site = repository.write("src/a.py", SITE)
    repository.write("pyproject.toml", b'[tool.porter]\nexclude = ["/gen.py"]\n')
    gen = repository.write("gen.py", SITE)
    repository.commit()
    assert porter("rewrite", ".", "gen.py", "--ignore", "PTR101").code == 0
    assert site.read_bytes() == SITE
    assert porter("rewrite", ".", "gen.py", "--exclude", "tests/").code == 0
    assert (kept.read_bytes(), gen.read_bytes(), site.read_bytes()) == (SITE, SITE, PORTED)


@pytest.mark.parametrize(
    "arguments",
    [
        ["rewrite"],
        ["rewrite", "missing"],
        ["rewrite", ".", "--jobs", "0"],
        ["rewrite", ".", "--select", "XYZ"],
        ["rewrite", ".", "--exclude", "[a"],
        ["rewrite", ".", "--format", "xml"],
        ["rewrite", ".", "--unknown"],
        ["unknown"],
    ],
    ids=" ".join,
)
def test_usage_errors(repository: Repository, porter: Porter, arguments: list[str]) -> None:
    site = repository.write("a.py", SITE)
    repository.commit()
    done = porter(*arguments)
    assert (done.code, done.out) == (2, b"")
    assert "Error: " in done.err
    assert site.read_bytes() == SITE
