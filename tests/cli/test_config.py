from __future__ import annotations

from pathlib import Path

import pytest

from porter import config
from porter.errors import Refused
from porter.settings import resolve
from tests.cli.harness import Repository


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "pyproject.toml"
    path.write_text(text, "utf-8")
    return path


def test_reads_every_key(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "[tool.porter]\n"
        'select = ["PTR1"]\nignore = ["PTR101"]\nexclude = ["tests/"]\njobs = 3\nvendor = "pkg"\n',
    )
    assert config.load(tmp_path / "sub" / "missing.py") == config.Config(
        path, ("PTR1",), ("PTR101",), ("tests/",), 3, "pkg"
    )


def test_the_nearest_table_counts(tmp_path: Path) -> None:
    write(tmp_path, "[tool.porter]\njobs = 1\n")
    nearest = write(tmp_path / "a/b", "[tool.porter]\njobs = 2\n")
    write(tmp_path / "a/b/c", "[tool.other]\n")
    assert config.load(tmp_path / "a/b/c").path == nearest


def test_the_search_ends_at_the_repository(repository: Repository) -> None:
    write(repository.path.parent, "[tool.porter]\njobs = 1\n")
    assert config.load(repository.write("sub/a.py")) == config.Config()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("selekt = []", "tool.porter.selekt is unknown; did you mean select?"),
        ("colour = true", "tool.porter.colour is unknown; known are select"),
        ("dry-run = true", "tool.porter.dry-run is for the command line only"),
        ('select = "PTR1"', "tool.porter.select has to be a list of strings, not 'PTR1'"),
        ("exclude = [1]", "tool.porter.exclude has to be a list of strings"),
        ("jobs = 0", "tool.porter.jobs has to be a whole number of at least 1"),
        ("jobs = true", "tool.porter.jobs has to be"),
        ("jobs = 1.5", "tool.porter.jobs has to be"),
        ('vendor = ""', "tool.porter.vendor has to be the path of a folder"),
        ("jobs = ", "cannot be read"),
        ("\x00", "cannot be read"),
    ],
)
def test_mistakes_name_file_and_key(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, f"[tool.porter]\n{text}\n")
    with pytest.raises(Refused) as refused:
        config.load(tmp_path)
    assert message in str(refused.value)
    assert str(path) in str(refused.value)


@pytest.mark.parametrize("text", ["[tool]\nporter = 1\n", "[[tool.porter]]\njobs = 1\n"])
def test_the_table_has_to_be_one(tmp_path: Path, text: str) -> None:
    write(tmp_path, text)
    with pytest.raises(Refused, match=r"tool\.porter has to be a table"):
        config.load(tmp_path)


def test_options_win_over_the_configuration_and_patterns_add_up(repository: Repository) -> None:
    write(
        repository.path,
        '[tool.porter]\nselect = ["PTR1"]\nexclude = ["/gen/"]\njobs = 3\nvendor = "pkg"\n',
    )
    root = repository.path
    plain = resolve([root])
    assert (plain.select, plain.jobs, plain.vendor) == (("PTR1",), 3, root / "pkg")
    told = resolve(
        [root], select=["ptr101, PTR1"], exclude=["tests/"], jobs=1, vendor=Path("other")
    )
    assert (told.select, told.jobs, told.vendor) == (("PTR101", "PTR1"), 1, Path("other"))
    for name in ("gen/a.py", "tests/a.py"):
        assert any(e.excludes(root / name, root) for e in told.exclusions)


def test_what_no_rule_speaks_about_can_be_ignored_but_errors_can_not(tmp_path: Path) -> None:
    assert resolve([tmp_path], ignore=["PTR001"]).ignore == ("PTR001",)
    with pytest.raises(Refused):
        resolve([tmp_path], ignore=["PTR000"])


def test_configured_patterns_are_relative_to_their_file(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repository.path, '[tool.porter]\nexclude = ["/src/gen.py"]\n')
    repository.write("src/gen.py")
    monkeypatch.chdir(repository.path / "src")
    settings = resolve([Path()])
    path, root = repository.path / "src/gen.py", repository.path / "src"
    assert any(exclusion.excludes(path, root) for exclusion in settings.exclusions)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"select": ["PTR9999"]}, "--select: no rule's code begins with PTR9999"),
        ({"ignore": ["E501"]}, "--ignore: no rule's code begins with E501"),
        ({"exclude": ["[a"]}, "--exclude: '[a' has a [ without its ]"),
    ],
)
def test_options_are_checked(options: dict[str, list[str]], message: str, tmp_path: Path) -> None:
    with pytest.raises(Refused) as refused:
        resolve(
            [tmp_path],
            select=options.get("select", []),
            ignore=options.get("ignore", []),
            exclude=options.get("exclude", []),
        )
    assert message in str(refused.value)
