"""Addresses of packages that are built for CUDA."""

from __future__ import annotations

import re

from porter.configs.rule import Answer, Manual, config_rule
from porter.configs.subjects import Index

_CUDA = re.compile(r"(?:^|[/_.+-])cu(?:da)?-?\d{2,3}(?:$|[/_.+-])|pypi\.(?:ngc\.)?nvidia\.com")


@config_rule(
    "PTR816",
    on=Index,
    manual=[
        ("requirements.txt", "--extra-index-url https://download.pytorch.org/whl/cu118\ntorch\n"),
        ("setup.sh", "pip install torch --index-url https://download.pytorch.org/whl/cu121\n"),
        ("Dockerfile", "RUN pip install x -f https://data.pyg.org/whl/torch-2.1.0+cu121.html\n"),
        (
            "pyproject.toml",
            '[[tool.uv.index]]\nname = "torch"\nurl = "https://download.pytorch.org/whl/cu124"\n',
        ),
        (
            "environment.yml",
            "dependencies:\n- pip:\n  - --extra-index-url https://download.pytorch.org/whl/cu118\n",
        ),
    ],
    valid=[
        ("requirements.txt", "--extra-index-url https://download.pytorch.org/whl/cpu\n# cuda\n"),
        ("mkdocs.yml", "site_url: https://example.com/whl/cu118/\n"),
    ],
)
def cuda_index(index: Index) -> Answer:
    """Point out addresses from which packages for CUDA are installed: `.../whl/cu118`.

    An installation from there brings torch's build for CUDA onto every host. torch_npu needs the
    CPU build of its own version (https://download.pytorch.org/whl/cpu). The line is left, as it
    is right for CUDA: keep it in a file or a step for CUDA alone.
    """
    if "/" not in index.url or not _CUDA.search(index.url):
        return None
    return Manual(
        f"{index.url} has packages for CUDA: keep it in a file or a step for CUDA alone, and take "
        "torch from https://download.pytorch.org/whl/cpu, beside torch_npu, on Ascend"
    )
