"""The kinds of files that porter reads, told by their names.

The hook's first look asks here: nothing is imported.
"""

from __future__ import annotations

PYTHON = "python"
NOTEBOOK = "notebook"
YAML = "yaml"
JSON = "json"
TOML = "toml"
INI = "ini"
SHELL = "shell"
MAKEFILE = "makefile"
DOCKERFILE = "dockerfile"
REQUIREMENTS = "requirements"

_CODE = frozenset({PYTHON, NOTEBOOK})
LARGEST_CONFIGURATION = 1_000_000
"""Bytes above which a file of JSON or YAML is data, not configuration."""

_NAMES = {
    ".env": SHELL,
    ".envrc": SHELL,
    "Containerfile": DOCKERFILE,
    "Dockerfile": DOCKERFILE,
    "GNUmakefile": MAKEFILE,
    "Makefile": MAKEFILE,
    "makefile": MAKEFILE,
}
_BEGINNINGS = (
    (".env.", "", SHELL),
    ("Containerfile.", "", DOCKERFILE),
    ("Dockerfile-", "", DOCKERFILE),
    ("Dockerfile.", "", DOCKERFILE),
    ("Dockerfile_", "", DOCKERFILE),
    ("", "requirements.txt", REQUIREMENTS),
    ("requirements", ".txt", REQUIREMENTS),
    ("requirements", ".in", REQUIREMENTS),
    ("constraints", ".txt", REQUIREMENTS),
)
"""How a name begins, how it ends, and what such a file is."""
_ENDINGS = {
    ".Dockerfile": DOCKERFILE,
    ".bash": SHELL,
    ".cfg": INI,
    ".dockerfile": DOCKERFILE,
    ".ini": INI,
    ".ipynb": NOTEBOOK,
    ".json": JSON,
    ".jsonc": JSON,
    ".mk": MAKEFILE,
    ".py": PYTHON,
    ".pbs": SHELL,
    ".sbatch": SHELL,
    ".sh": SHELL,
    ".slurm": SHELL,
    ".toml": TOML,
    ".yaml": YAML,
    ".yml": YAML,
    ".zsh": SHELL,
}
_REQUIREMENTS_FOLDER = "requirements"
_GENERATED = ("-lock.json", "-lock.yaml", "-lock.yml", ".min.json")
"""How files end that a program wrote and that are not for people to edit."""

CODE_PATHSPECS = tuple(f"*{ending}" for ending, kind in _ENDINGS.items() if kind in _CODE)
"""What to ask git for, to be told of code."""

CONFIGURATION_PATHSPECS = (
    *(f"*{ending}" for ending, kind in _ENDINGS.items() if kind not in _CODE),
    *(f":(glob)**/{name}" for name in _NAMES),
    *(f":(glob)**/{start}*{end}" for start, end, _ in _BEGINNINGS),
    f":(glob)**/{_REQUIREMENTS_FOLDER}/*.txt",
)
"""Likewise of configuration; not everything that these match is."""


def of(path: str) -> str:
    """Return the kind of the file at a path, by its name alone; "" where porter has no use for it.

    Args:
        path: at least the file's name, better with its folder, with forward slashes.
    """
    above, _, name = path.rpartition("/")
    if name in _NAMES:
        return _NAMES[name]
    if name.endswith(_GENERATED):
        return ""
    for start, end, kind in _BEGINNINGS:
        if name.startswith(start) and name.endswith(end):
            return kind
    dot = name.rfind(".")
    ending = name[dot:] if dot > 0 else ""
    if ending == ".txt" and above.rpartition("/")[2] == _REQUIREMENTS_FOLDER:
        return REQUIREMENTS
    return _ENDINGS.get(ending, "")


def of_script(data: bytes) -> str:
    """Return the kind of a file whose name says nothing, by who runs it; "" for anything else."""
    line = data[:200].partition(b"\n")[0]
    if not line.startswith(b"#!"):
        return ""
    if b"python" in line:
        return PYTHON
    return SHELL if any(word.endswith(b"sh") for word in line[2:].split()) else ""


def is_written(kind: str, configs: bool) -> bool:
    """Whether files of this kind may be rewritten; `configs` says whether configuration may."""
    return configs or kind in _CODE


def is_data(kind: str, size: int) -> bool:
    """Whether a file is too large, in bytes, to be the configuration that its name promises."""
    return kind not in _CODE and size > LARGEST_CONFIGURATION
