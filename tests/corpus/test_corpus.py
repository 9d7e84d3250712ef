"""The invariants over real projects: two always, the whole corpus with `pytest -m slow`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from invariants import check_folder

QUICK = ["accelerate==0.20.3", "yolov5==7.0.13"]
SLOW = [
    "ultralytics==8.0.20",
    "mmdet==2.28.2",
    "mmengine==0.7.4",
    "open_clip_torch==2.16.0",
    "peft==0.3.0",
    "trl==0.4.1",
    "diffusers==0.14.0",
    "pytorch-lightning==1.9.5",
    "timm==0.6.13",
    "denoising-diffusion-pytorch==1.5.4",
    "imagen-pytorch==1.25.12",
    "torch-fidelity==0.3.0",
    "facenet-pytorch==2.5.3",
    "megatron-core==0.5.0",
    "salesforce-lavis==1.0.2",
    "speechbrain==0.5.14",
    "monai==1.2.0",
    "flair==0.12.2",
    "espnet==202304",
    "transformers==4.30.2",
    "lightly==1.4.6",
]


@pytest.mark.parametrize(
    "requirement", [*QUICK, *(pytest.param(r, marks=pytest.mark.slow) for r in SLOW)]
)
def test_invariants_hold(requirement: str, project) -> None:  # type: ignore[no-untyped-def]
    counts, wrong = check_folder(project(requirement))
    assert counts["files"] > 5
    assert not wrong, "\n".join(wrong)
    if requirement in QUICK:
        assert counts["changed"] > 5
