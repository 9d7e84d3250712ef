"""Which files are configuration, by their names."""

from __future__ import annotations

import pytest

from porter import kinds


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (".github/workflows/ci.yml", kinds.YAML),
        ("conf/train.yaml", kinds.YAML),
        ("ds_config.json", kinds.JSON),
        (".devcontainer/devcontainer.json", kinds.JSON),
        ("settings.jsonc", kinds.JSON),
        ("pyproject.toml", kinds.TOML),
        ("setup.cfg", kinds.INI),
        ("tox.ini", kinds.INI),
        ("scripts/train.sh", kinds.SHELL),
        ("job.slurm", kinds.SHELL),
        ("job.sbatch", kinds.SHELL),
        ("job.pbs", kinds.SHELL),
        (".env", kinds.SHELL),
        (".env.example", kinds.SHELL),
        ("Makefile", kinds.MAKEFILE),
        ("rules.mk", kinds.MAKEFILE),
        ("docker/Dockerfile", kinds.DOCKERFILE),
        ("docker/Dockerfile-base", kinds.DOCKERFILE),
        ("docker/Dockerfile.cuda", kinds.DOCKERFILE),
        ("docker/cuda.Dockerfile", kinds.DOCKERFILE),
        ("Containerfile", kinds.DOCKERFILE),
        ("requirements.txt", kinds.REQUIREMENTS),
        ("requirements-gpu.txt", kinds.REQUIREMENTS),
        ("gpu-requirements.txt", kinds.REQUIREMENTS),
        ("requirements/gpu.txt", kinds.REQUIREMENTS),
        ("requirements.in", kinds.REQUIREMENTS),
        ("constraints.txt", kinds.REQUIREMENTS),
        ("package-lock.json", ""),
        ("pnpm-lock.yaml", ""),
        ("notes.txt", ""),
        ("README.md", ""),
        ("LICENSE", ""),
    ],
)
def test_a_name_tells_the_kind(path: str, kind: str) -> None:
    assert kinds.of(path) == kind


def test_a_large_file_is_data() -> None:
    assert kinds.is_data(kinds.JSON, 2_000_000)
    assert not kinds.is_data(kinds.JSON, 20_000)
