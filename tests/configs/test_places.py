"""Where findings point, in each format, and what is not flagged."""

from __future__ import annotations

import pytest

from porter.model import Level
from tests.configs.harness import found, marked, scan


@pytest.mark.parametrize(
    ("name", "text", "line", "column", "pointed"),
    [
        ("a.yaml", "x: é\ny:\n  device: cuda:0   # c\n", 3, 3, "device: cuda:0"),
        ("a.yaml", '"a": {é: 1, "device": "cuda"}\n', 1, 13, '"device": "cuda"'),
        ("a.yaml", "devices:\n- cpu\n- cuda:1\n", 3, 3, "cuda:1"),
        ("a.yaml", "device: &d cuda\nb: *d\n", 1, 1, "device: &d cuda"),
        ("a.yaml", "\ufeffdevice: cuda\r\n", 1, 1, "device: cuda"),
        ("a.yaml", "device:\n    cuda\n", 2, 5, "cuda"),
        ("a.yaml", "---\na: 1\n---\ndevice: cuda\n", 4, 1, "device: cuda"),
        ("a.json", '{\n\t"device"  : "cuda"\n}', 2, 2, '"device"  : "cuda"'),
        (
            "a.json",
            '{"\\u0064evice": "c\\u0075da", "x": "cuda"}',
            1,
            2,
            '"\\u0064evice": "c\\u0075da"',
        ),
        ("a.toml", "x = 1 # é\n[t]\n\"device\" = 'cuda'\n", 3, 1, "\"device\" = 'cuda'"),
        ("a.toml", 't = { device = "cuda" }\n', 1, 7, 'device = "cuda"'),
        ("a.ini", "[t]\nx = 1\ndevice = cuda ; c\n", 3, 1, "device = cuda"),
        (
            "Dockerfile",
            'FROM x\nCMD ["python", "a.py", "--device=cuda"]\n',
            2,
            24,
            '"--device=cuda"',
        ),
        ("Makefile", "ARGS := --lr 1 \\\n  --device cuda\n", 2, 3, "--device cuda"),
    ],
)
def test_a_device_is_pointed_at(name: str, text: str, line: int, column: int, pointed: str) -> None:
    result = scan(name, text)
    (finding,) = [f for f in result.findings if f.level is Level.MANUAL]
    assert (finding.code, finding.line, finding.column) == ("PTR801", line, column)
    assert marked(finding) == pointed
    assert finding.first_line == line
    assert result.output == text.encode()


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("environment.yml", "dependencies:\n- pip:\n  - torch==2.1.0+cu118\n", "PTR815"),
        ("pod.yaml", "env:\n- {name: NVIDIA_VISIBLE_DEVICES, value: all}\n", "PTR805"),
        ("pyproject.toml", '[project.optional-dependencies]\ngpu = ["cupy-cuda12x"]\n', "PTR815"),
        ("pyproject.toml", '[dependency-groups]\ndev = ["xformers"]\n', "PTR815"),
        (
            "pyproject.toml",
            '[tool.poetry.group.gpu.dependencies]\nflash-attn = {version = "2"}\n',
            "PTR815",
        ),
        ("setup.cfg", "[options.extras_require]\ngpu =\n    bitsandbytes\n", "PTR815"),
        ("tox.ini", "[testenv]\ndeps =\n    pynvml\ncommands =\n    pytest\n", "PTR815"),
        ("tox.ini", "[testenv]\ncommands =\n    nvidia-smi\n", "PTR814"),
        (
            ".pre-commit-config.yaml",
            "repos:\n- hooks:\n  - additional_dependencies: [triton]\n",
            "PTR815",
        ),
        (".gitlab-ci.yml", "gpu:\n  image: nvidia/cuda:12.1.0-base\n", "PTR813"),
        (".gitlab-ci.yml", "gpu:\n  script:\n    - nvidia-smi -L\n", "PTR814"),
        ("pod.yaml", 'command: ["python", "train.py", "--device", "cuda"]\n', "PTR801"),
        ("pod.yaml", "args:\n- --dist-backend=nccl\n", "PTR803"),
        ("pod.yaml", 'args: ["python train.py --device cuda"]\n', "PTR801"),
        ("requirements/gpu.txt", "-e git+https://github.com/NVIDIA/apex#egg=apex\n", "PTR815"),
        ("requirements.txt", "https://x.org/whl/flash_attn-2.5-cp311-linux_x86_64.whl\n", "PTR815"),
        ("requirements.txt", "xformers==0.0.22 \\\n    --hash=sha256:0123\n", "PTR815"),
        ("Dockerfile", "ONBUILD RUN nvidia-smi\n", "PTR814"),
        ("Dockerfile", "RUN <<EOF\nset -e\nnvidia-smi\nEOF\nFROM x\n", "PTR814"),
        ("Dockerfile", "RUN a && \\\n# a comment\n\n  nvidia-smi\n", "PTR814"),
        ("Dockerfile", "RUN --mount=type=cache,target=/x pip install cupy\n", "PTR815"),
        ("Dockerfile", "ENV NVIDIA_VISIBLE_DEVICES all\n", "PTR805"),
        ("Makefile", "x:\n\t@if nvidia-smi; then \\\n\t  echo; fi\n", "PTR814"),
        ("Makefile", "N := $(shell nvidia-smi -L | wc -l)\nx:\n\techo $(N)\n", None),
        (".env", "NVIDIA_VISIBLE_DEVICES=0\n", "PTR805"),
    ],
)
def test_what_is_found_where(name: str, text: str, code: str | None) -> None:
    assert [each[0] for each in found(name, text)] == ([code] if code else [])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mkdocs.yml", "nav:\n- cuda: docs/cuda.md\n- NCCL: https://x.org/nccl/cu118/\n"),
        ("a.yaml", "name: cuda\ndescription: needs nvidia-smi, --gpus all and nccl\n"),
        ("a.yaml", "model: org/llama-cuda\nurl: https://x.org/nvidia/cuda\n"),
        ("a.yaml", "classes: [gpu, cuda, nccl]\n"),
        ("a.yaml", "prompt: |\n  device: cuda\n  backend: nccl\n"),
        ("a.yaml", "# device: cuda\n#backend: nccl\na: 1\n"),
        ("ci.yml", "name: tests (cuda)\non: {push: {branches: [cuda]}}\nenv: {A: cuda}\n"),
        ("package.json", '{"name": "cuda", "keywords": ["nccl"], "description": "cuda"}'),
        ("config.json", '{"id2label": {"0": "cuda"}, "vocab": ["cuda", "nccl"]}'),
        ("pyproject.toml", '[project]\nname = "cuda"\nkeywords = ["cuda", "triton"]\n'),
        ("pyproject.toml", '[tool.pytest.ini_options]\nmarkers = ["cuda: needs CUDA"]\n'),
        (
            "pyproject.toml",
            '[project]\nname = "Flash_Attn"\n[project.optional-dependencies]\n'
            'all = ["flash-attn[test,dev]"]\n',
        ),
        ("setup.cfg", "[metadata]\nname = flash-attn\nclassifiers =\n    CUDA\n"),
        ("README.sh", "cat <<EOF\nrun nvidia-smi --device cuda\nEOF\n"),
        ("Dockerfile", "# FROM nvidia/cuda\nFROM ubuntu\nLABEL x='nvidia-smi cuda'\n"),
        ("a.yaml", "device: {{ device }}\nbackend: '{{ backend or \"nccl\" }}'\n"),
        (
            "chart/templates/a.yaml",
            "{{- if .Values.gpu }}\nimage: {{ .Values.cuda }}\n{{- end }}\n",
        ),
        ("examples/npu/a.yaml", "device: cuda\n"),
        ("docker-rocm/Dockerfile", "FROM nvidia/cuda:12\n"),
        ("train_ascend.yml", "flash_attn: fa2\n"),
    ],
)
def test_what_is_not_flagged(name: str, text: str) -> None:
    assert scan(name, text).findings == ()


def test_only_the_device_is_flagged_among_comments_and_names() -> None:
    text = (
        "# device to use\ndevice: cuda:0        # or cpu\nloader: {pin_memory: true}\n"
        "name: cuda-baseline\n"
    )
    assert [(f.code, f.line) for f in scan("cfg/train.yaml", text).findings] == [("PTR801", 2)]
    assert scan("cfg/train.yaml", text, configs=True).output == text.encode()
