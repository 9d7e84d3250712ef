"""Container images that bring CUDA."""

from __future__ import annotations

import re

from porter.configs.rule import Answer, Manual, config_rule
from porter.configs.subjects import Image

_CUDA = re.compile(
    r"(?:^|[/_-])nvidia[/_-]|(?:^|\W)nvcr\.io/|(?:^|[\W_])cu(?:da)?[-_]?1[0-9]|[-_/]cuda(?:$|[-_:.\d])"
    r"|[-_]gpu(?:$|[-_:@])"
)
_OTHERS = re.compile(r"amd|ascend|dcu|gaudi|hygon|iluvatar|intel|metax|mlu|musa|npu|rocm|xpu")


@config_rule(
    "PTR813",
    on=Image,
    manual=[
        ("Dockerfile", "FROM nvidia/cuda:12.1.1-cudnn8-devel-ubuntu22.04 AS base\n"),
        ("Dockerfile", "FROM --platform=linux/amd64 nvcr.io/nvidia/pytorch:24.01-py3\n"),
        ("Dockerfile", "ARG BASE=pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime\nFROM ${BASE}\n"),
        ("compose.yaml", "services:\n  train:\n    image: winglian/axolotl:main-py3.11-cu121\n"),
        ("ci.yml", "jobs:\n  gpu:\n    container: nvidia/cuda:11.8.0-base-ubuntu22.04\n"),
        ("run.sh", "docker run --rm nvidia/cuda:12.1.1-base-ubuntu22.04 python train.py\n"),
    ],
    valid=[
        ("Dockerfile", "FROM python:3.11-slim\n# FROM nvidia/cuda:12.1\n"),
        ("Dockerfile", "ARG CUDA\nFROM ubuntu:22.04 AS cuda\n"),
        ("train.yaml", "image: assets/cuda.png\n"),
        ("Dockerfile", "FROM ubuntu\nENV CUDA_HOME=/usr/local/cuda\n"),
        ("backends.yaml", "image: registry/server:latest-metax-gpu\n"),
    ],
)
def cuda_image(image: Image) -> Answer:
    """Point out container images with CUDA: nvidia/cuda, nvcr.io, tags such as cu121.

    They start on any host, but bring CUDA's libraries and a torch that is built for them, beside
    which torch_npu doesn't load. For Ascend, build a second image on one with CANN (such as
    quay.io/ascend/cann) and install torch's CPU build and the torch_npu of the same version.
    The line is left: on CUDA it is right.
    """
    name = image.name.strip("\"'")
    if not _CUDA.search(name) or _OTHERS.search(name):
        return None
    if re.search(r"^[/.]|\s|\.(?:png|jpe?g|gif|svg)$", name):
        return None
    return Manual(
        f"the image {name} brings CUDA: for Ascend, build on one with CANN (such as "
        "quay.io/ascend/cann), with torch's CPU build and torch_npu"
    )
