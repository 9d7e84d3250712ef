"""CANN: which versions are installed, which one this shell uses, and whether its libraries load."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .asking import ask
from .entry import Section
from .pairs import cann as made_with
from .pairs import compare

PLACES = (Path("/usr/local/Ascend"), Path("~/Ascend"))
"""Where CANN is installed for all users, and for one."""

# ascend-toolkit/VERSION and nnae/VERSION until 8.3, cann-VERSION from 8.5 on; links among them lead
# to one of the versions.
_FOLDERS = ("ascend-toolkit/*", "nnae/*", "cann", "cann-*")

_HOMES = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME")
_LIBRARIES = ("libascendcl.so", "libhccl.so")
"""What torch_npu is linked with: the runtime and the collectives."""

_LOAD = "import ctypes, sys\nfor name in sys.argv[1:]: ctypes.CDLL(name)"


@dataclass(frozen=True)
class Install:
    """One installed version: its real folder, and the script that a shell sources for it."""

    home: Path
    version: str
    set_env: Path | None


def find(places: Iterable[Path]) -> list[Install]:
    """Return what is installed in the places, in the order of the folders' names."""
    found: dict[Path, Install] = {}
    for place in places:
        for pattern in _FOLDERS:
            for folder in sorted(place.expanduser().glob(pattern)):
                install = at(folder)
                if install is not None:
                    found.setdefault(install.home, install)
    return sorted(found.values(), key=lambda install: install.home)


def at(folder: Path) -> Install | None:
    """Return what is installed at a folder, None where it is no CANN."""
    records = sorted(folder.glob("*-linux/ascend_*_install.info"))
    if records:
        # `latest` may be a link, or a folder of links to a version's parts.
        home = records[0].resolve().parents[1]
        version = _value(records[0], r"version=(\S+)")
    elif (folder / "version.cfg").is_file():
        home = folder.resolve()
        version = _value(folder / "version.cfg", r"\w+_running_version=\[(?:[^\]:]*:)?([^\]:]+)\]")
    else:
        return None
    scripts = [each / "set_env.sh" for each in (home, folder, home.parent)]
    return Install(home, version, next((each for each in scripts if each.is_file()), None))


def _value(path: Path, pattern: str) -> str:
    try:
        found = re.search(rf"^{pattern}", path.read_text("utf-8", "replace"), re.M)
    except OSError:
        return ""
    return found[1] if found else ""


def examine(
    environment: Mapping[str, str],
    torch_npu: str,
    timeout: float,
    places: Iterable[Path] = PLACES,
) -> Section:
    """Look at CANN.

    Args:
        environment: the shell's.
        torch_npu: its version, "" where it isn't installed or needs no CANN.
        timeout: seconds for its libraries to load.
        places: where to look for installed versions.
    """
    section = Section("CANN")
    installed = find(places)
    section.facts["installed"] = [
        {"home": str(install.home), "version": install.version} for install in installed
    ]
    homes = {name: environment[name] for name in _HOMES if environment.get(name)}
    section.facts["environment"] = homes
    used = _used(section, homes, installed, torch_npu)
    section.facts["used"] = str(used.home) if used else None
    if used is None:
        return section
    _judge_version(section, used, torch_npu, installed)
    _judge_mixture(section, used, environment)
    answer = ask([sys.executable, "-c", _LOAD, *_LIBRARIES], timeout, environment)
    if answer.failure:
        section.problem(
            "libraries",
            f"{' and '.join(_LIBRARIES)} don't load: {answer.last_words or answer.failure}",
            _source(used)
            if _has_libraries(used)
            else f"install CANN's toolkit in {used.home} anew",
        )
    else:
        section.ok("libraries", f"{' and '.join(_LIBRARIES)} load")
    return section


def _used(
    section: Section, homes: Mapping[str, str], installed: list[Install], torch_npu: str
) -> Install | None:
    """Add an entry about the version that the environment names, and return it."""
    others = ", ".join(f"{each.version or 'unknown'} in {each.home}" for each in installed)
    newest = installed[-1] if installed else None
    if not homes:
        if newest is None and torch_npu:
            wanted = made_with(torch_npu)
            section.problem(
                "installed",
                f"torch_npu needs CANN, and none is in {' or '.join(map(str, PLACES))}",
                f"install CANN {wanted or '(the one that fits)'}, or source the "
                "set_env.sh of one that is elsewhere",
            )
        elif newest is None:
            section.absent("installed", "no CANN")
        else:
            section.problem("environment", f"not set up in this shell: {others}", _source(newest))
        return None
    name, home = next(iter(homes.items()))
    used = at(Path(home))
    if used is None:
        mend = _source(newest) if newest else "install CANN, or unset the variable"
        what = "no CANN is there" if Path(home).is_dir() else "there is no such folder"
        section.problem("environment", f"{name}={home}, and {what}", mend)
        return None
    different = {n: h for n, h in homes.items() if Path(h).resolve() != Path(home).resolve()}
    for other, value in different.items():
        section.problem(
            "environment", f"{name}={home}, but {other}={value}", f"in a new shell: {_source(used)}"
        )
    if not different:
        section.ok("environment", f"{name}={home}")
    return used


def _judge_version(
    section: Section, used: Install, torch_npu: str, installed: list[Install]
) -> None:
    wanted = made_with(torch_npu) if torch_npu else ""
    stands = compare(used.version, wanted) if wanted else ""
    shown = f"{used.version or 'of unknown version'} in {used.home}"
    made = f"torch_npu {torch_npu} is made with CANN {wanted}"
    if stands == "older":
        fitting = [each for each in installed if compare(each.version, wanted) == "same"]
        mend = _source(fitting[0]) if fitting else f"install CANN {wanted}"
        section.problem("version", f"{shown}; {made}", mend)
    elif stands == "newer":
        section.note("version", f"{shown}; {made}", f"if operators fail: install CANN {wanted}")
    elif stands == "compatible":
        section.ok("version", f"{shown}; {made}, and the two are compatible")
    else:
        section.ok("version", shown)
    others = [f"{each.version} in {each.home}" for each in installed if each.home != used.home]
    if others:
        section.note("others", f"installed as well: {', '.join(others)}")


def _judge_mixture(section: Section, used: Install, environment: Mapping[str, str]) -> None:
    """Look for paths into another version than the one that is used."""
    for name in ("ASCEND_OPP_PATH", "LD_LIBRARY_PATH"):
        for entry in filter(None, environment.get(name, "").split(":")):
            other = next((o for o in map(at, Path(entry).parents) if o is not None), None)
            if other is not None and other.home != used.home:
                section.problem(
                    name,
                    f"{entry} is of another CANN than {used.home}",
                    "in a new shell: " + _source(used),
                )
                break


def _has_libraries(install: Install) -> bool:
    folders = (install.home, *install.home.glob("*-linux"))
    return any((folder / "lib64" / _LIBRARIES[0]).exists() for folder in folders)


def _source(install: Install) -> str:
    if install.set_env is None:
        return f"install CANN in {install.home} anew: it has no set_env.sh"
    return f"source {install.set_env}"
